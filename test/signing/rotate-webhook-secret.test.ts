import t from 'tap'
import { previousSecretContext, webhookSecretContext } from '../../src/signing/secret.ts'
import { deleteExpiredSecrets } from '../../src/signing/end-secret-overlap.ts'
import { testService } from '../support/app.ts'
import { countRows } from '../support/rows.ts'
import { endOverlap, passOverlap, rotate, showSecret, storedSecrets } from '../support/secrets.ts'
import { times } from '../support/payments.ts'

const service = await testService(t)
const { app, owner } = service
const HEX = /^[0-9a-f]{64}$/

function near(actual: number | null, expected: number): boolean {
  return actual !== null && Math.abs(actual - expected) < 30
}

t.test('a rotation creates a new secret, and keeps the previous one for a day by default', async (t) => {
  const merchant = await service.merchant()
  const { status, body } = await rotate(service, merchant)
  t.equal(status, 200)
  t.match(body.webhook_signing_secret, HEX)
  t.not(body.webhook_signing_secret, merchant.secret)
  t.equal(body.masked_secret, `****${body.webhook_signing_secret.slice(-4)}`)
  t.ok(near((Date.parse(body.rotated_at) - Date.now()) / 1000, 0))
  t.ok(near((Date.parse(body.previous_expires_at) - Date.now()) / 1000, 86_400))
  const stored = await storedSecrets(service, merchant)
  t.equal(app.sealer.open(stored.current, webhookSecretContext(merchant.id)), body.webhook_signing_secret)
  t.equal(app.sealer.open(stored.previous ?? '', previousSecretContext(merchant.id)), merchant.secret)
  t.throws(
    () => app.sealer.open(stored.previous ?? '', webhookSecretContext(merchant.id)),
    'sealed anew for its own column',
  )
})

t.test('the overlap is as long as requested, from zero to seven days', async (t) => {
  const merchant = await service.merchant()
  for (const [seconds, left] of [
    [1, 1],
    [604_800, 604_800],
  ] as const) {
    const { status } = await rotate(service, merchant, { overlap_seconds: seconds })
    t.equal(status, 200)
    t.ok(near((await storedSecrets(service, merchant)).secondsLeft, left))
    await endOverlap(service, merchant)
  }
  const { status, body } = await rotate(service, merchant, { overlap_seconds: 0 })
  t.equal(status, 200)
  t.equal(body.previous_expires_at, null)
  t.match(await storedSecrets(service, merchant), { previous: null, secondsLeft: null }, 'then none is kept')
  t.equal((await rotate(service, merchant)).status, 200, 'and nothing keeps from rotating again')
})

t.test('during an overlap another rotation is rejected, with the end of the overlap', async (t) => {
  const merchant = await service.merchant()
  const first = await rotate(service, merchant, { overlap_seconds: 600 })
  const [rows, before] = [await countRows(owner), await storedSecrets(service, merchant)]
  for (const body of [undefined, { overlap_seconds: 0 }, { overlap_seconds: 60, discard_current: false }]) {
    const refused = await rotate(service, merchant, body)
    t.equal(refused.status, 409)
    t.equal(refused.body.code, 'SECRET_OVERLAP_RUNNING')
    t.ok(refused.body.error.includes(first.body.previous_expires_at), refused.body.error)
    t.match(refused.body.next, /wait.*end-overlap.*discard_current/)
  }
  t.strictSame(await countRows(owner), rows)
  const { current, previous } = await storedSecrets(service, merchant)
  t.strictSame({ current, previous }, { current: before.current, previous: before.previous })
})

t.test('a new secret that was lost is replaced, and the previous one and its end stay', async (t) => {
  const merchant = await service.merchant()
  const lost = await rotate(service, merchant, { overlap_seconds: 600 })
  const before = await storedSecrets(service, merchant)
  const again = await rotate(service, merchant, { discard_current: true })
  t.equal(again.status, 200)
  t.not(again.body.webhook_signing_secret, lost.body.webhook_signing_secret)
  t.equal(again.body.previous_expires_at, lost.body.previous_expires_at)
  t.equal((await storedSecrets(service, merchant)).previous, before.previous)
})

t.test('discard_current without an overlap is rejected: it would cut off every receiver', async (t) => {
  const merchant = await service.merchant()
  const before = await storedSecrets(service, merchant)
  const never = await rotate(service, merchant, { discard_current: true })
  t.match(never, { status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ path: 'discard_current' }] } })
  t.strictSame(await storedSecrets(service, merchant), before)
  await rotate(service, merchant)
  await passOverlap(service, merchant)
  t.equal((await rotate(service, merchant, { discard_current: true })).status, 400, 'nor once it has passed')
})

t.test('all invalid input is reported, and changes nothing', async (t) => {
  const merchant = await service.merchant()
  const [rows, before] = [await countRows(owner), await storedSecrets(service, merchant)]
  for (const seconds of [-1, 604_801, 1.5, '60', null]) {
    const { status, body } = await rotate(service, merchant, { overlap_seconds: seconds })
    t.equal(status, 400, String(seconds))
    t.match(body.errors, [{ path: 'overlap_seconds' }])
  }
  const two = await rotate(service, merchant, { overlap_seconds: -1, discard_current: 'yes', secret: 'mine' })
  t.equal(two.status, 400)
  t.equal(two.body.errors.length, 3)
  t.equal((await showSecret(service, merchant, '?language=cobol')).status, 400)
  t.strictSame(await countRows(owner), rows)
  t.strictSame(await storedSecrets(service, merchant), before)
})

t.test('of parallel rotations one succeeds and the others are rejected', async (t) => {
  const merchant = await service.merchant()
  const answers = await times(10, () => rotate(service, merchant, { overlap_seconds: 600 }))
  t.strictSame(answers.map(({ status }) => status).toSorted(), [200, ...Array.from({ length: 9 }, () => 409)])
  const won = answers.find(({ status }) => status === 200)
  const stored = await storedSecrets(service, merchant)
  t.equal(app.sealer.open(stored.current, webhookSecretContext(merchant.id)), won?.body.webhook_signing_secret)
  t.equal(app.sealer.open(stored.previous ?? '', previousSecretContext(merchant.id)), merchant.secret)
})

t.test('the overlap ends at once on demand, and ending it again changes nothing', async (t) => {
  const merchant = await service.merchant()
  const rotated = await rotate(service, merchant)
  const ended = await endOverlap(service, merchant)
  t.match(ended, { status: 200, body: { masked_secret: rotated.body.masked_secret, previous_expires_at: null } })
  t.equal(ended.body.rotated_at, rotated.body.rotated_at)
  t.match(await storedSecrets(service, merchant), { previous: null, secondsLeft: null })
  const rows = await countRows(owner)
  t.strictSame((await endOverlap(service, merchant)).body, ended.body)
  t.strictSame(await countRows(owner), rows, 'nothing is recorded of what did not happen')
})

t.test('the secret is shown masked, with its times and a receiver', async (t) => {
  const merchant = await service.merchant()
  const first = await showSecret(service, merchant)
  t.equal(first.status, 200)
  const { verification_snippet: snippet, ...rest } = first.body
  const masked_secret = `****${merchant.secret.slice(-4)}`
  t.strictSame(rest, { masked_secret, language: 'node', rotated_at: null, previous_expires_at: null })
  t.match(snippet, /createHmac\('sha256'/)
  t.notMatch(first.text, merchant.secret)
  const { body } = await rotate(service, merchant)
  const during = await showSecret(service, merchant, '?language=go')
  t.equal(during.body.language, 'go')
  t.match(during.body.verification_snippet, /^package main$/m)
  t.equal(during.body.previous_expires_at, body.previous_expires_at)
  t.equal(during.body.masked_secret, body.masked_secret)
  await passOverlap(service, merchant)
  const after = await showSecret(service, merchant)
  t.equal(after.body.previous_expires_at, null, 'null once passed, also before it is forgotten')
  t.equal(after.body.rotated_at, body.rotated_at)
})

t.test('an expired secret is deleted, and one whose overlap is running is not', async (t) => {
  const [passed, running] = [await service.merchant(), await service.merchant()]
  for (const merchant of [passed, running]) await rotate(service, merchant)
  await passOverlap(service, passed)
  t.strictSame(await deleteExpiredSecrets(app), { more: false })
  t.match(await storedSecrets(service, passed), { previous: null, secondsLeft: null })
  t.type((await storedSecrets(service, running)).previous, 'string')
})

t.test('a rotation affects its own merchant only', async (t) => {
  const [one, other] = [await service.merchant(), await service.merchant()]
  const before = await storedSecrets(service, other)
  await rotate(service, one)
  t.strictSame(await storedSecrets(service, other), before)
  await rotate(service, other)
  await endOverlap(service, one)
  t.type((await storedSecrets(service, other)).previous, 'string')
})

t.test('a secret in another merchant’s row, or in the other column, opens nowhere', async (t) => {
  const [one, other] = [await service.merchant(), await service.merchant()]
  await rotate(service, one)
  const { current, previous } = await storedSecrets(service, one)
  t.throws(() => app.sealer.open(current, webhookSecretContext(other.id)))
  t.throws(() => app.sealer.open(previous ?? '', previousSecretContext(other.id)))
  t.throws(() => app.sealer.open(current, previousSecretContext(one.id)))
})

t.test('the sandbox clock moves the end of an overlap', async (t) => {
  const merchant = await service.merchant()
  await rotate(service, merchant, { overlap_seconds: 3_600 })
  await owner.query(`select advance_sandbox_clock($1, '{}', interval '2 hours')`, [merchant.id])
  t.equal((await showSecret(service, merchant)).body.previous_expires_at, null)
  t.equal((await rotate(service, merchant)).status, 200)
})
