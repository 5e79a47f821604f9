import { Writable } from 'node:stream'
import { pino } from 'pino'
import t from 'tap'
import { authorisedPayment, testService, until } from '../support/app.ts'
import { dumpDatabase } from '../support/dump.ts'
import { startReceiver } from '../support/receiver.ts'
import { endOverlap, rotate, showSecret } from '../support/secrets.ts'

/** A log that takes nothing out: what is in it was given to it. */
function nakedLog() {
  const chunks: string[] = []
  const destination = new Writable({
    write: (chunk, _encoding, done) => {
      chunks.push(String(chunk))
      done()
    },
  })
  return { log: pino({ level: 'trace' }, destination), text: () => chunks.join('') }
}

t.test('no secret is in a log, in the audit trail or anywhere in the database', async (t) => {
  const { log, text } = nakedLog()
  const service = await testService(t, { worker: true, overrides: { log } })
  const receiver = await startReceiver(t)
  const merchant = await service.merchant({ webhookUrl: receiver.url })
  const first = await rotate(service, merchant, { overlap_seconds: 600 })
  const second = await rotate(service, merchant, { discard_current: true })
  const refused = await rotate(service, merchant)
  await authorisedPayment(service, merchant)
  await until(async () => receiver.receipts.length >= 2)
  const shown = await showSecret(service, merchant)
  const ended = await endOverlap(service, merchant)
  const secrets = [merchant.secret, first.body.webhook_signing_secret, second.body.webhook_signing_secret]
  t.match(text(), /rotateWebhookSecret/, 'the log was written')
  const dump = await dumpDatabase(service.owner)
  t.ok(dump.includes(merchant.id) && dump.includes('webhook_secret.rotate'), 'the dump holds what there is')
  for (const secret of secrets) {
    for (const place of [text(), dump, shown.text, ended.text, refused.text]) {
      t.notOk(place.includes(secret))
      t.notOk(place.includes(Buffer.from(secret).toString('base64').slice(0, 80)))
    }
  }
})

t.test('the audit trail shows who rotated, and the overlap, and nothing secret', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const first = await rotate(service, merchant, { overlap_seconds: 600 })
  await rotate(service, merchant)
  await rotate(service, merchant, { discard_current: true })
  await endOverlap(service, merchant)
  await rotate(service, merchant, { overlap_seconds: 0 })
  const { rows } = await service.owner.query(
    `select action, merchant_id, subject_id, actor_name, before, after from operator_actions
     where merchant_id = $1 order by ordinal`,
    [merchant.id],
  )
  const { previous_expires_at } = first.body
  const who = { merchant_id: merchant.id, subject_id: merchant.id, actor_name: merchant.clientId }
  t.equal(rows.length, 4, 'what was refused is not there')
  const rotated = { action: 'webhook_secret.rotate', ...who, before: null }
  t.strictSame(rows, [
    { ...rotated, after: { overlap_seconds: 600, previous_expires_at } },
    { ...rotated, after: { discard_current: true, previous_expires_at } },
    {
      action: 'webhook_secret.end_overlap',
      ...who,
      before: { previous_expires_at },
      after: { previous_expires_at: null },
    },
    { ...rotated, after: { overlap_seconds: 0, previous_expires_at: null } },
  ])
})
