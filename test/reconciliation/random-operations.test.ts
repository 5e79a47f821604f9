import fc from 'fast-check'
import t from 'tap'
import { atBank, createPayment, testService, until } from '../support/app.ts'
import type { Answer, TestMerchant } from '../support/app.ts'
import { OPERATOR, raiseAsPayer, resolve, submitEvidence } from '../support/disputes.ts'
import { brokenInvariants } from '../support/invariants.ts'
import type { Invariant } from '../support/invariants.ts'
import { completeSca, refund } from '../support/payments.ts'
import { payoutAccount } from '../support/payouts.ts'
import { startWorkerProcess } from '../support/worker-process.ts'
import type { WorkerProcess } from '../support/worker-process.ts'

/*
 * Whatever happens, in whatever order: the ledger sums to zero, kept balances are the recount, and reconciliation finds
 * nothing. After each step, with the worker in the middle of its work or killed in it.
 */
const SEQUENCES = Number(process.env['SVC_TEST_SEQUENCES'] ?? 8)
const STEPS_MAX = 14

const service = await testService(t)
const { owner } = service
let worker: WorkerProcess = await startWorkerProcess(t, service)

type Run = { merchant: TestMerchant; payments: string[] }
type Step = { name: string; run(run: Run): Promise<unknown> }

const step = <T>(name: string, value: fc.Arbitrary<T>, play: (run: Run, value: T) => Promise<unknown>) =>
  value.map((each): Step => ({ name: `${name} ${JSON.stringify(each)}`, run: (run) => play(run, each) }))

const Amount = fc
  .integer({ min: 100, max: 90_000 })
  .map((pence) => `${Math.floor(pence / 100)}.${String(pence % 100).padStart(2, '0')}`)
const Scenario = fc.constantFrom(
  'success',
  'success',
  'success',
  'refund-fails',
  'insufficient-funds',
  'settlement-fails',
  'payer-cancels',
)
const Share = fc.constantFrom('0%', '30%', '60%')

const pay = step(
  'pay',
  fc.record({
    amount: Amount,
    currency: fc.constantFrom('GBP', 'GBP', 'EUR'),
    scenario: Scenario,
    settles: fc.boolean(),
  }),
  payNow,
)

async function payNow(
  { merchant, payments }: Run,
  { settles, ...body }: { amount: string; settles: boolean },
): Promise<void> {
  const { status, body: created } = await createPayment(service, merchant, body)
  // Held or suspended.
  if (status === 403) return
  payments.push(created.payment_id)
  await completeSca(service, created.payment_id, await atBank(created.redirect_url, 'approve'))
  // Otherwise the next steps meet it on its way.
  if (settles) await settled(merchant, created.payment_id)
}

const giveBack = step(
  'refund',
  fc.record({ which: fc.nat(), amount: fc.option(Amount, { nil: undefined }), times: fc.constantFrom(1, 1, 2) }),
  async ({ merchant, payments }, { which, amount, times }) => {
    const id = payments[which % payments.length]
    if (id === undefined) return
    const body = amount === undefined ? undefined : { amount }
    await Promise.all(Array.from({ length: times }, () => refund(service, merchant, { id, body })))
  },
)

const dispute = step(
  'dispute',
  fc.record({ which: fc.nat(), refunds: fc.boolean() }),
  async ({ merchant, payments }, { which, refunds }) => {
    const { status, body } = await raiseAsPayer(service, payments[which % payments.length] ?? merchant.id)
    if (status !== 201) return
    await submitEvidence(service, merchant, body.id)
    await resolve(service, body.id, { refund: refunds })
  },
)

/** What a step must be able to do. */
async function done(answer: Promise<Answer>): Promise<void> {
  const { status, text } = await answer
  if (status > 299) throw new Error(`${status} ${text}`)
}

const ofOperator = (path: string, body: unknown): Promise<void> =>
  done(service.call('PUT', `/api/v1/admin/merchants/${path}`, { headers: OPERATOR, body }))

const hold = step('hold', fc.constantFrom(true, false, false), ({ merchant }, isHeld) =>
  ofOperator(`${merchant.id}/hold`, { payout_held: isHeld, reason: 'a test' }),
)

const kyb = step('kyb', fc.constantFrom('SUSPENDED', 'APPROVED', 'APPROVED'), ({ merchant }, status) =>
  ofOperator(`${merchant.id}/kyb`, { kyb_status: status, reason: 'a test' }),
)

const faults = step(
  'faults',
  fc.record({
    unavailable: Share,
    duplicate: Share,
    fail_payout: Share,
    return_payout: Share,
    seed: fc.nat(1000),
  }),
  ({ merchant }, value) =>
    done(
      service.call('PUT', '/api/v1/sandbox/bank/faults', {
        headers: OPERATOR,
        body: { ...value, merchant_id: merchant.id },
      }),
    ),
)

const pass = step('advance', fc.constantFrom('1h', '1d', '8d'), ({ merchant }, by) =>
  done(
    service.call('POST', '/api/v1/sandbox/clock/advance', {
      headers: OPERATOR,
      body: { by, merchant_id: merchant.id },
    }),
  ),
)

const account = step('account', fc.constantFrom('20-20-15', '40-47-84'), ({ merchant }, sort_code) =>
  payoutAccount(service, merchant, { sort_code }),
)

const retry = step('retry', fc.nat(), async ({ merchant }, which) => {
  const { body } = await service.call('GET', '/api/v1/portal/payouts', { merchant })
  const payout = body.data[which % body.data.length]
  if (payout === undefined) return
  await service.call('POST', `/api/v1/admin/payouts/${payout.payout_id}/retry`, {
    headers: OPERATOR,
    body: { reason: 'a test' },
  })
})

const close = step('close', fc.constant(null), ({ merchant }) =>
  service.call('POST', '/api/v1/portal/settlements', { merchant, body: {} }),
)

const correct = step(
  'correct',
  fc.record({
    amount: fc.tuple(fc.constantFrom('', '-'), Amount).map((parts) => parts.join('')),
    currency: fc.constantFrom('GBP', 'EUR'),
    booked_against: fc.constantFrom('BANK', 'FEES'),
  }),
  ({ merchant }, correction) =>
    done(
      service.call('POST', `/api/v1/admin/merchants/${merchant.id}/corrections`, {
        headers: OPERATOR,
        body: { ...correction, reason: 'a test' },
      }),
    ),
)

const kill = step('kill', fc.integer({ min: 0, max: 200 }), async (_run, afterMs) => {
  await new Promise((done) => setTimeout(done, afterMs))
  await worker.kill()
  worker = await startWorkerProcess(t, service)
})

async function settled(merchant: TestMerchant, id: string): Promise<void> {
  await until(async () =>
    /Settled|Failed|Refunded/.test((await service.call('GET', `/api/v1/payments/${id}`, { merchant })).body.status),
  )
}

const LEDGER: readonly Invariant[] = [
  'I10 every currency of the ledger sums to zero, and its balances are the recount',
  'LEDGER_HASH',
]

async function compared(query = ''): Promise<unknown[]> {
  const { status, body } = await service.call('GET', `/api/v1/admin/reconciliation${query}`, { headers: OPERATOR })
  if (status !== 200) throw new Error(`reconciliation answered ${status}`)
  return body.differences
}

async function differences(): Promise<unknown[]> {
  return [...(await compared()), ...(await brokenInvariants(owner, LEDGER))]
}

/** What differs between two moments since the beginning: wherever these lie, all of it agrees. */
async function differencesBetween(began: number, [one, other]: Moments): Promise<unknown[]> {
  const moments = [one, other].map((share) => new Date(began + (Date.now() - began) * share).toISOString())
  const [from = '', until = ''] = moments.toSorted()
  return [...(await compared(`?from=${from}&as_of=${until}`)), ...(await compared(`?as_of=${until}`))]
}

type Moments = [number, number]
const Moments = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }))

t.test('after every step of random sequences, all that says something of money agrees', async (t) => {
  const seen = new Map<string, number>()
  const sequence = fc.array(
    fc.oneof(
      { weight: 6, arbitrary: pay },
      { weight: 3, arbitrary: giveBack },
      { weight: 2, arbitrary: dispute },
      { weight: 1, arbitrary: hold },
      { weight: 1, arbitrary: kyb },
      { weight: 1, arbitrary: faults },
      { weight: 3, arbitrary: pass },
      { weight: 2, arbitrary: account },
      { weight: 1, arbitrary: retry },
      { weight: 1, arbitrary: close },
      { weight: 1, arbitrary: correct },
      { weight: 1, arbitrary: kill },
    ),
    { minLength: 6, maxLength: STEPS_MAX },
  )
  await fc.assert(
    fc.asyncProperty(sequence, Moments, async (steps, moments) => {
      const began = Date.now()
      const run: Run = { merchant: await service.merchant(), payments: [] }
      await payoutAccount(service, run.merchant)
      for (const amount of ['30.00', '450.00']) await payNow(run, { amount, settles: true })
      for (const { name, run: play } of steps) {
        await play(run)
        const word = name.split(' ')[0] ?? ''
        seen.set(word, (seen.get(word) ?? 0) + 1)
        const found = await differences()
        if (found.length > 0) throw new Error(`after ${name}: ${JSON.stringify(found)}`)
      }
      const between = await differencesBetween(began, moments)
      if (between.length > 0) throw new Error(`between ${moments.join(' and ')}: ${JSON.stringify(between)}`)
    }),
    { numRuns: SEQUENCES, endOnFailure: true },
  )
  t.comment(JSON.stringify(Object.fromEntries(seen)))
  const { rows } = await owner.query('select status::text as status, count(*)::int as count from payouts group by 1')
  t.comment(JSON.stringify(rows))
  t.same(await brokenInvariants(owner, LEDGER), [])
})
