import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { generateMasterKey, makeSealer } from '../../src/lib/seal.ts'
import { signBody, signStandard } from '../../src/lib/webhook-signature.ts'
import { previousSecretContext } from '../../src/signing/secret.ts'
import { testService } from '../support/app.ts'
import type { TestMerchant, TestService } from '../support/app.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receipt } from '../support/receiver.ts'
import { endOverlap, passOverlap, rotate, showSecret } from '../support/secrets.ts'
import { until } from '../support/until.ts'
import { plantDeliveries } from '../support/webhooks.ts'

/** A merchant with a receiver, and how it gets one delivery. */
async function listening(t: Test, service: TestService) {
  const receiver = await startReceiver(t)
  const merchant = await service.merchant({ webhookUrl: receiver.url })
  async function deliver(): Promise<Receipt> {
    const count = receiver.receipts.length
    await plantDeliveries(service.owner, merchant.id)
    service.app.wake.notify('deliver-webhooks')
    await until('it arrives', () => receiver.receipts.length > count)
    const receipt = receiver.receipts.at(-1)
    if (receipt === undefined) throw new Error('nothing arrived')
    return receipt
  }
  return { receiver, merchant, deliver }
}

function standard({ headers, body }: Receipt, secrets: readonly string[]): string {
  const [id, timestamp] = [String(headers['webhook-id']), Number(headers['webhook-timestamp'])]
  return secrets.map((secret) => signStandard({ secret, body, id, timestamp })).join(' ')
}

/** What a receiver does that holds this one secret: either header may verify. */
function accepts(secret: string, { headers, body }: Receipt): boolean {
  const signature = signBody({ secret, body })
  return [headers['x-service-signature'], headers['x-service-signature-previous']].includes(signature)
}

t.test('a delivery carries both signatures while the overlap runs, and one after it', async (t) => {
  const service = await testService(t, { worker: true })
  const { merchant, deliver } = await listening(t, service)

  const before = await deliver()
  t.notOk('x-service-signature-previous' in before.headers)

  const { body } = await rotate(service, merchant, { overlap_seconds: 600 })
  const newest: string = body.webhook_signing_secret
  const during = await deliver()
  t.equal(during.headers['x-service-signature'], signBody({ secret: newest, body: during.body }))
  t.equal(during.headers['x-service-signature-previous'], signBody({ secret: merchant.secret, body: during.body }))
  t.equal(during.headers['webhook-signature'], standard(during, [newest, merchant.secret]))

  await passOverlap(service, merchant)
  const after = await deliver()
  t.equal(after.headers['x-service-signature'], signBody({ secret: newest, body: after.body }))
  t.notOk('x-service-signature-previous' in after.headers, 'a passed one signs nothing, forgotten or not')
  t.equal(after.headers['webhook-signature'], standard(after, [newest]))

  const last = await rotate(service, merchant)
  await endOverlap(service, merchant)
  const ended = await deliver()
  t.notOk('x-service-signature-previous' in ended.headers)
  t.ok(accepts(last.body.webhook_signing_secret, ended))
})

t.test('the pull feed carries both signatures as well', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  await plantDeliveries(service.owner, merchant.id)
  const { body } = await rotate(service, merchant)
  const read = async () => {
    let events: { payload: string; signatures: Record<string, string> }[] = []
    await until('the feed has it', async () => {
      events = (await service.call('GET', '/api/v1/portal/events', { merchant })).body.data
      return events.length > 0
    })
    return { bytes: Buffer.from(events[0]?.payload ?? ''), signatures: events[0]?.signatures ?? {} }
  }
  const during = await read()
  t.equal(
    during.signatures['X-Service-Signature'],
    signBody({ secret: body.webhook_signing_secret, body: during.bytes }),
  )
  t.equal(during.signatures['X-Service-Signature-Previous'], signBody({ secret: merchant.secret, body: during.bytes }))
  await passOverlap(service, merchant)
  t.notOk('X-Service-Signature-Previous' in (await read()).signatures)
})

t.test('a previous secret that does not open stops neither deliveries nor the feed', async (t) => {
  const service = await testService(t, { worker: true })
  const { merchant, deliver } = await listening(t, service)
  const { body } = await rotate(service, merchant)
  const foreign = makeSealer(generateMasterKey()).seal(merchant.secret, previousSecretContext(merchant.id))
  await service.owner.query('update merchants set webhook_secret_previous = $2 where id = $1', [merchant.id, foreign])
  const receipt = await deliver()
  t.equal(receipt.headers['x-service-signature'], signBody({ secret: body.webhook_signing_secret, body: receipt.body }))
  t.notOk('x-service-signature-previous' in receipt.headers)
  t.equal((await service.call('GET', '/api/v1/portal/events', { merchant })).status, 200)
})

t.test('the demo receiver accepts signatures of either secret until the overlap ends', async (t) => {
  const service = await testService(t)
  const merchant = await service.merchant()
  const { body: rotated } = await rotate(service, merchant)
  const raw = '{"eventId":"evt_1","eventType":"payment.settled"}'
  const post = async (secret: string): Promise<number> => {
    const headers = { 'x-service-signature': signBody({ secret, body: Buffer.from(raw) }) }
    return (await service.call('POST', `/dev/webhook-receiver/${merchant.id}`, { headers, raw })).status
  }
  t.equal(await post(rotated.webhook_signing_secret), 200)
  t.equal(await post(merchant.secret), 200, 'it may have been under way when the secret changed')
  t.equal(await post('f'.repeat(64)), 401)
  await endOverlap(service, merchant)
  t.equal(await post(rotated.webhook_signing_secret), 200)
  t.equal(await post(merchant.secret), 401)
})

t.test('ten rotations under traffic fail no verification, whichever secret a receiver holds', async (t) => {
  const service = await testService(t, { worker: true })
  const held = { old: '', newest: '', both: new Set<string>() }
  const failed: string[] = []
  const counts = { all: 0, signedTwice: 0 }
  // Three receivers in one: each delivery is judged by one that holds the old secret, by one that holds the new one, and
  // by one that holds both.
  const receiver = await startReceiver(t, ({ receipt, response }) => {
    counts.all += 1
    if ('x-service-signature-previous' in receipt.headers) counts.signedTwice += 1
    if (!accepts(held.old, receipt)) failed.push(`old ${receipt.eventId}`)
    if (!accepts(held.newest, receipt)) failed.push(`new ${receipt.eventId}`)
    if (![...held.both].some((secret) => accepts(secret, receipt))) failed.push(`both ${receipt.eventId}`)
    response.writeHead(200).end()
  })
  const merchant = await service.merchant({ webhookUrl: receiver.url })
  Object.assign(held, { old: merchant.secret, newest: merchant.secret, both: new Set([merchant.secret]) })
  const traffic = startTraffic(service, merchant, () => counts.all)
  await until('something is signed once', () => counts.all > 0)

  for (let round = 0; round < 10; round += 1) {
    // The first overlap passes by itself, the sixth all at once, and the merchant ends the others.
    const { status, body } = await rotate(service, merchant, { overlap_seconds: 600 })
    t.equal(status, 200)
    held.both.add(body.webhook_signing_secret)
    // An attempt that was under way when the secret was rotated is signed with the one before alone; nobody deploys a
    // secret in the milliseconds that it takes to arrive.
    const before = counts.signedTwice
    const { rows: queued } = await service.owner.query<{ id: string }>('select delivery_id as id from webhook_queue')
    await until('what was under way has arrived', async () => {
      const left = await service.owner.query('select from webhook_queue where delivery_id = any($1)', [
        queued.map(({ id }) => id),
      ])
      return left.rowCount === 0
    })
    await until('both sign', () => counts.signedTwice > before + 3)
    held.newest = body.webhook_signing_secret
    await until('more has arrived', () => counts.signedTwice > before + 10)
    held.old = body.webhook_signing_secret
    if (round === 0) {
      await passOverlap(service, merchant, '1 second')
      await until('it passes', async () => (await showSecret(service, merchant)).body.previous_expires_at === null)
    } else if (round === 5) await passOverlap(service, merchant)
    else await endOverlap(service, merchant)
  }

  await traffic.stop()
  t.strictSame(failed, [])
  t.ok(counts.all > 100, `${counts.all} deliveries`)
  t.ok(counts.signedTwice > 50 && counts.signedTwice < counts.all, `${counts.signedTwice} signed twice`)
  const { rows } = await service.owner.query(
    'select status::text as status, count(*)::int as count from webhook_log group by 1',
  )
  t.strictSame(rows, [{ status: 'DELIVERED', count: counts.all }], 'and each was delivered at its first attempt')
})

const WAITING_MAX = 60

/** Deliveries without a pause, until it is stopped; then all are delivered. No more wait at once than soon arrive. */
function startTraffic(
  service: TestService,
  merchant: TestMerchant,
  arrivedCount: () => number,
): { stop(): Promise<void> } {
  let isOver = false
  async function run(): Promise<void> {
    for (let planted = 0; !isOver; await delay(20)) {
      if (planted - arrivedCount() >= WAITING_MAX) continue
      await plantDeliveries(service.owner, merchant.id, { count: 3 })
      planted += 3
    }
  }
  const running = run()
  return {
    stop: async () => {
      isOver = true
      await running
      await until('all are delivered', async () => {
        const { rows } = await service.owner.query('select count(*)::int as waiting from webhook_queue')
        return rows[0].waiting === 0
      })
    },
  }
}
