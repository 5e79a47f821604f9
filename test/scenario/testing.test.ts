import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import t from 'tap'
import { VERB_NAMES } from '../../cli/scenario/language.ts'
import { makeSeededIds } from '../../src/lib/seeded-ids.ts'
import { sandbox } from '../../cli/testing.ts'
import type { TestScenario } from '../../cli/testing.ts'
import { cleanEnv, nodeCommand } from '../cli/service.ts'
import { testService } from '../support/app.ts'
import { SCRATCH } from '../support/scratch.ts'

const SETTLED = { amount: '50.00', currency: 'GBP', bank: 'approve' } as const
const { url } = await testService(t, { worker: true, env: { SVC_VRP_CAPS: 'enforce' } })
const box = await sandbox({ apiUrl: url, operator: 'tester' })
t.teardown(() => box.close())

/** What an action fails with. */
async function failureOf(action: Promise<unknown>): Promise<Error & { code?: string; http?: number; report?: string }> {
  const error = await action.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof Error) return error
  throw new Error('it did not fail')
}

t.test('a scenario is written in verbs that answer what others take', async (t) => {
  t.equal(box.isEphemeral, false)
  await using shop = await box.scenario({ merchant: { name: 'Acme Ltd', fee_percentage: '0.0100', fee_flat: '0.20' } })
  const payment = await shop.pay({ ...SETTLED, remittance_reference: '$dollar $p1 and $$' })
  t.equal(payment.net_amount, '49.30')
  await shop.await({ payment, status: 'Settled' })
  await shop.expect({ of: payment, remittance_reference: '$dollar $p1 and $$', currency: '/^G.P$/' })
  const again = await shop.pay({ repeat: payment, expect: { http: 200 } })
  t.equal(again.payment_id, payment.payment_id)
  const refund = await shop.paymentsRefund({ payment, amount: '20.00' })
  t.equal(refund.remaining_amount, '30.00')
  t.match(await shop.payment(payment), { status: 'Settled', refunded_amount: '20.00' })
  const dispute = await shop.dispute({ payment, reason: 'OTHER', statement: 'x' })
  await shop.disputesEvidence({ dispute, text: 'y', expect: { status: 'UNDER_REVIEW' } })
  await shop.disputesResolve({ dispute, favour: 'merchant', note: 'z' })
  await shop.webhooks({ for: payment, in_order: ['payment.settled', 'dispute.resolved'], signed: true })
  t.ok(shop.received.every(({ signature }) => signature === 'valid') && shop.received.length >= 6)
  const { http, body } = await shop.http({ get: `/payments/${payment.payment_id}` })
  t.match({ http, body }, { http: 200, body: { status: 'Settled' } })
  t.match(shop.environment, { SVC_API_URL: url, SVC_CLIENT_ID: shop.self.client_id, SVC_WEBHOOK_SECRET: /./ })
})

t.test('verbs with dots and lines in their names, customers, payers, mandates, and time', async (t) => {
  await using shop = await box.scenario({ receiver: { answers: [500] } })
  const [ada, eve] = await Promise.all([shop.customer({ balance: '100.00' }), shop.customer({ name: 'Eve' })])
  t.ok(ada.account_id !== eve.account_id && !('client_secret' in ada))
  const order = await shop.order({ from: ada, to: eve, amount: '10.00' })
  await shop.await({ order, status: 'AcceptedSettlementCompleted' })
  await shop.expect({ account: ada, balance: '90.00' })
  const standing = await shop.recurring({ from: ada, to: eve, amount: '1.00', frequency: 'EvryDay' })
  await shop.clock({ advance: '49h' })
  await shop.await({ recurring: standing, payments: 1 })
  await shop.recurring({ cancel: standing })
  const mandate = await shop.pay({
    ...SETTLED,
    payer_email: 'ada@story.example',
    mandate: { max_amount_per_payment: '60.00' },
  })
  await shop.await({ consent: mandate, status: 'AUTHORISED' })
  const link = await shop.payerLink({ contact: 'ada@story.example' })
  const payer = await shop.payerVerify({ link })
  await shop.payerConsents({ payer, count: 1 })
  await shop.paymentsMandatesCancel({ consent: mandate, payer })
  const paying = { amount: '1.00', currency: 'GBP', consent: mandate }
  await shop.expectError(() => shop.pay(paying), { http: 409, code: 'MANDATE_NOT_USABLE' })
  await shop.secretRotate({})
  await shop.receiver({ answers: [200], secret: 'newest' })
  t.equal(await shop.checkout({ amount: '3.00', currency: 'GBP', pays: false }), undefined)
  t.equal((await shop.checkout({ amount: '3.00', currency: 'GBP' })).gross_amount, '3.00')
})

t.test('every verb of the language is a function, and nothing of them is global', async (t) => {
  await using shop = await box.scenario({ receiver: false })
  const names = VERB_NAMES.map((verb) => verb.replaceAll(/[._](.)/g, (_, letter: string) => letter.toUpperCase()))
  const functions: Record<string, unknown> = { ...shop }
  for (const name of names) t.type(functions[name], 'function', name)
  t.same(shop.received, [])
})

t.test('another merchant of the scenario has its own identity', async (t) => {
  await using shop = await box.scenario()
  const other = await shop.merchant({ name: 'Other Ltd', receiver: {} })
  const theirs = shop.as(other)
  const payment = await theirs.pay(SETTLED)
  await theirs.await({ payment, status: 'Settled' })
  await theirs.webhooks({ for: payment, in_order: ['payment.settled'] })
  t.ok(theirs.received.length > 0 && shop.received.length === 0)
  t.equal(theirs.self.name, 'Other Ltd')
  await shop.expectError(() => shop.payment(payment), { http: 404, code: 'PAYMENT_NOT_FOUND' })
  await shop.kybSuspend({ of: other, reason: 'x' })
  await shop.expectError(() => theirs.pay(SETTLED), { http: 403 })
  await shop.expect({ account: other, balance: '50.00' })
})

t.test('a failure reports what differs, what happened, the last request, and where it was called', async (t) => {
  await using shop = await box.scenario()
  const payment = await shop.pay(SETTLED)
  await shop.await({ payment, status: 'Settled' })
  const failure = await failureOf(shop.expect({ of: payment, net_amount: '1.00' }))
  const { message, report = '', stack, name } = failure
  t.equal(message, 'expect: $pay1 is not as expected: net_amount (expected "1.00", but is "49.30")')
  t.notOk('code' in failure || 'http' in failure, 'what there is not is not there')
  t.equal(inspect(failure), stack)
  t.match(report, /net_amount: expected "1\.00"\n +but is "49\.30"/)
  t.match(
    report,
    /Payment pay1 \S+ is Settled\n[^]*Authorised[^]*Webhooks that the receiver got\n[^]*payment\.initiated/,
  )
  t.match(report, /curl -g http[^]*answered 200/)
  t.equal(name, 'ScenarioError')
  const frames = (stack ?? '').slice(report.length)
  t.match(frames, /testing\.test\.ts/)
  t.notMatch(frames, /cli\/testing\//)
  const refused = await failureOf(shop.paymentsRefund({ payment, amount: '99.00' }))
  t.match(refused, {
    http: 422,
    code: 'REFUND_EXCEEDS_AVAILABLE',
    report: /shop\.expectError\(\(\) => …, \{ http: 422/,
  })
  t.notMatch(`${report}${refused.report}`, shop.environment['SVC_WEBHOOK_SECRET'] ?? '?')
})

t.test('expectError() needs the error that it was given, and no other end', async (t) => {
  await using shop = await box.scenario({ merchant: { kyb: 'PENDING' } })
  const pay = (): Promise<unknown> => shop.pay({ amount: '1.00', currency: 'GBP' })
  t.match(await failureOf(pay()), { report: /Try: kyb\.approve: \{ reason: / })
  const refusal = await shop.expectError(pay, { http: 403, match: '/approved/i' })
  t.match(refusal, { http: 403, code: /./, message: /approved/i })
  t.match(await failureOf(shop.expectError(pay, { code: 'OTHER' })), {
    report: /^expectError: [^]*code: expected "?OTHER/,
  })
  await shop.kybApprove({ reason: 'papers seen' })
  t.match(await failureOf(shop.expectError(pay, { http: 403 })), {
    message: /expected to be rejected \(403\), but it succeeded/,
  })
  t.match(await failureOf(shop.expectError(pay, {})), { message: /say which error is expected/ })
  const own = new Error('of the test itself')
  t.equal(await failureOf(shop.expectError(() => Promise.reject(own), { http: 403 })), own)
})

t.test('what a verb cannot take is reported before anything is sent', async (t) => {
  const shop: TestScenario = await box.scenario({ receiver: false })
  const payment = await shop.pay({ amount: '1.00', currency: 'GBP' })
  const customer = await shop.customer({})
  const told = async (action: Promise<unknown>, message: RegExp): Promise<void> =>
    void t.match(await failureOf(action), { name: 'ScenarioError', message })
  // @ts-expect-error there is no such field
  await told(shop.pay({ amount: '1.00', curency: 'GBP' }), /curency: unknown field "curency": did you mean "currency"/)
  // @ts-expect-error there is no such status
  await told(shop.await({ payment, status: 'Settle' }), /status/)
  // @ts-expect-error a customer is no payment
  await told(shop.paymentsRefund({ payment: customer }), /\$customer1 is not valid here: expected payment; only a step/)
  await told(shop.paymentsRefund({ payment: { ...payment } }), /payment: is not an answer of a verb of this scenario/)
  // @ts-expect-error a flag that the command does not have
  await told(shop.holdSet({ reasn: 'odd' }), /unknown field "reasn": did you mean "reason"/)
  // @ts-expect-error a word that the command does not take
  await told(shop.webhooksEndpointSet({ none: 'yes' }), /none must be true or false/)
  // @ts-expect-error no member of the answer
  await told(shop.holdRelease({ reason: 'odd', expect: { payout_hold: false } }), /did you mean "payout_held"/)
  await told(shop.holdSet({ reason: ' ' }), /reason must not be empty/)
  // @ts-expect-error names are for files
  await told(shop.paymentsRefund({ payment: '$pay1' }), /./)
  // @ts-expect-error an id is no payment
  await told(shop.bank({ approve: payment.payment_id }), /approve must be a payment by its name/)
  const making = shop.pay({ amount: '1.00', currency: 'GBP' })
  // @ts-expect-error nor is a promise
  await told(shop.paymentsRefund({ payment: making }), /payment: is not an answer of a verb of this scenario/)
  await making
  await told(shop.pay({ amount: '1.00' }), /"currency" is missing here/)
  // @ts-expect-error there is no such thing
  await told(box.scenario({ merchnt: {} }), /scenario: merchnt: unknown field/)
  const other = await box.scenario({ receiver: false })
  await told(other.expect({ of: payment, status: 'Settled' }), /of: is not an answer of a verb of this scenario/)
  await Promise.all([shop.close(), other.close(), shop.close()])
})

t.test('a service that is named and does not run is reported, and none is started in its place', async (t) => {
  t.match(await failureOf(sandbox({ stateDir: '/nowhere' })), { code: 'NOT_RUNNING' })
  t.match(await failureOf(sandbox({ ephemeral: false, stateDir: '/nowhere' })), { code: 'NOT_RUNNING' })
})

t.test('a service of its own is made for a test alone, and is gone after it', async (t) => {
  const own = await sandbox({ ephemeral: true, seed: 'a seed' })
  t.equal(own.isEphemeral, true)
  const shop = await own.scenario()
  const payment = await shop.pay(SETTLED)
  await shop.await({ payment, status: 'Settled' })
  await own.close()
  const gone = await sandbox({ apiUrl: own.apiUrl, operator: 'tester' })
  t.match(await failureOf(gone.scenario()), { message: /can't be reached/ })
  await gone.close()
})

t.test('however a program ends, its service and the data are gone', async (t) => {
  const temporary = mkdtempSync(join(SCRATCH, 'ends-'))
  const source = join(import.meta.dirname, '..', '..', 'cli', 'testing.ts')
  const begin = `const { sandbox } = await import(${JSON.stringify(source)})
    const box = await sandbox({ ephemeral: true, idp: 'none' })`
  const endOf = (then: string): Promise<object> => {
    const ended = Promise.withResolvers<object>()
    const child = execFile(
      ...nodeCommand(['--input-type=module', '-e', `${begin};${then}`]),
      { env: cleanEnv({ TMPDIR: temporary }), timeout: 300_000 },
      () => ended.resolve({ code: child.exitCode, signal: child.signalCode }),
    )
    return ended.promise
  }
  const ends = [
    endOf("setTimeout(() => { throw new Error('of nobody') })"),
    endOf("process.kill(process.pid, 'SIGTERM')"),
  ]
  t.same(await Promise.all(ends), [
    { code: 1, signal: null },
    { code: null, signal: 'SIGTERM' },
  ])
  t.same(
    readdirSync(temporary).filter((name) => name.startsWith('svc-ephemeral')),
    [],
  )
})

t.test('with a seed, ids follow from it and from the names of the scenarios', async (t) => {
  const told = async (seed: string, names: readonly string[]): Promise<string[]> => {
    const { url: apiUrl } = await testService(t, { overrides: { ids: makeSeededIds(seed) } })
    await using seeded = await sandbox({ apiUrl, operator: 'tester', seed })
    const payments = names.map(async (name) => {
      const shop = await seeded.scenario({ name, receiver: false })
      return `${name} ${(await shop.pay({ amount: '1.00', currency: 'GBP' })).payment_id}`
    })
    return (await Promise.all(payments)).toSorted()
  }
  const once = await told('a seed', ['first', 'second'])
  t.same(await told('a seed', ['second', 'first']), once)
  t.notSame(await told('another', ['first', 'second']), once)
})

t.test('the examples pass with node:test, from the package as it is built', async (t) => {
  const folder = join(import.meta.dirname, '..', '..', 'examples', 'testing')
  const files = readdirSync(folder).filter((name) => name.endsWith('.test.mjs'))
  t.ok(files.length > 0)
  const ended = Promise.withResolvers<{ error: Error | null; stdout: string }>()
  execFile(
    ...nodeCommand(['--test', '--test-reporter=tap', ...files.map((name) => join(folder, name))]),
    { env: cleanEnv({ SVC_API_URL: url, SVC_PLATFORM_USER: 'tester' }), timeout: 60_000 },
    (error, stdout) => ended.resolve({ error, stdout }),
  )
  const { error, stdout } = await ended.promise
  t.equal(error, null, stdout)
  t.match(stdout, /# fail 0/)
})
