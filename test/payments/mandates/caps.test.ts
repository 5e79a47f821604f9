import { randomUUID } from 'node:crypto'
import t from 'tap'
import { payMandates } from '../../../src/payments/mandates/pay-mandates.ts'
import { settlePayments } from '../../../src/payments/settle-payments.ts'
import { createPayment, testService } from '../../support/app.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import { authorisedMandate, mandateBody, payUnder, readMandate } from '../../support/mandates.ts'
import { refund, tally, times } from '../../support/payments.ts'

const service = await testService(t, { env: { SVC_VRP_CAPS: 'enforce' } })
const merchant = await service.merchant()
const { app, owner } = service

const caps = (max: unknown, ...limits: [string, unknown][]) => ({
  control_parameters: {
    max_amount_per_payment: max,
    periodic_limits: limits.map(([period, max_amount]) => ({ period, max_amount })),
  },
})
const EXCEEDED = { status: 422, body: { code: 'MANDATE_LIMIT_EXCEEDED' } }
const pay = (consentId: string, amount: string) => payUnder(service, merchant, { consentId, changes: { amount } })

t.test('enforced caps hold to the last digit, also for the first payment', async (t) => {
  t.match(await createPayment(service, merchant, mandateBody(caps(49.99))), EXCEEDED)
  t.match(await createPayment(service, merchant, mandateBody(caps(50, ['MONTH', 49.99]))), EXCEEDED)
  const { consentId } = await authorisedMandate(service, merchant, caps(50, ['MONTH', '100.30'], ['YEAR', 1000]))
  t.match(await pay(consentId, '50.01'), {
    ...EXCEEDED,
    body: { errors: [{ path: 'amount', message: /max_amount_per_payment.*at most 50.00 GBP/ }] },
  })
  t.equal((await pay(consentId, '50.00')).status, 201)
  t.match(await pay(consentId, '0.50'), {
    ...EXCEEDED,
    body: { error: /of 100.30 GBP for a MONTH 0.30 GBP are left until \d{4}-\d\d-\d\dT/, next: /portal\/consents/ },
  })
  t.match((await readMandate(service, merchant, consentId)).body, {
    caps_enforced: true,
    allowances: [
      { period: 'MONTH', max_amount: '100.30', used_amount: '100.00', remaining_amount: '0.30' },
      { period: 'YEAR', max_amount: '1000.00', used_amount: '100.00', remaining_amount: '900.00' },
    ],
  })
})

t.test('a failed payment restores its cap, a refund does not', async (t) => {
  const { consentId, paymentId } = await authorisedMandate(service, merchant, caps(50, ['MONTH', 100]))
  await settlePayments(app)
  const failing = await payUnder(service, merchant, {
    consentId,
    changes: { amount: '50.00', scenario: 'limit-exceeded' },
  })
  t.equal(failing.status, 201)
  t.match(await pay(consentId, '1.00'), EXCEEDED, 'what the bank has not answered counts')
  await payMandates(app)
  t.equal((await pay(consentId, '30.00')).status, 201)
  t.match(await refund(service, merchant, { id: paymentId }), { status: 200 })
  t.match(await pay(consentId, '20.01'), EXCEEDED)
  t.equal((await pay(consentId, '20.00')).status, 201)
})

t.test("a period ends at midnight in London, and earlier payments don't count", async (t) => {
  const { consentId, paymentId } = await authorisedMandate(service, merchant, caps(50, ['MONTH', 50]))
  t.match(await pay(consentId, '1.00'), EXCEEDED)
  const { body } = await readMandate(service, merchant, consentId)
  const resets = new Date(body.allowances[0].resets_at)
  const london = new Intl.DateTimeFormat('en-GB', { timeZone: 'Europe/London', day: 'numeric', hour: 'numeric' })
  t.match(london.format(resets), /^1\D+0?0$/, 'the first of a month at midnight')
  const lastDay = new Date(resets.getTime() - 24 * 3_600_000)
  const start = Date.UTC(lastDay.getUTCFullYear(), lastDay.getUTCMonth(), 1)
  const at = (ms: number) =>
    owner.query('update payment_intents set created_at = $2 where id = $1', [paymentId, new Date(start + ms)])
  // In London the month may begin an hour earlier: both times are far enough from its boundary.
  await at(2 * 3_600_000)
  t.match(await pay(consentId, '1.00'), EXCEEDED)
  await at(-2 * 3_600_000)
  t.equal((await pay(consentId, '50.00')).status, 201)
})

t.test('of 20 concurrent payments against a cap for 3 more, exactly 3 succeed', async (t) => {
  const { consentId } = await authorisedMandate(service, merchant, caps(50, ['WEEK', 80]))
  const answers = await times(20, () => pay(consentId, '10.00'))
  t.same(tally(answers.map(({ status }) => status)), { '201': 3, '422': 17 })
  t.match((await readMandate(service, merchant, consentId)).body, {
    payment_count: 4,
    allowances: [{ remaining_amount: '0.00' }],
  })
})

t.test('a repeat is answered even when the cap is used up', async (t) => {
  const { consentId } = await authorisedMandate(service, merchant, caps(50, ['WEEK', 60]))
  const key = randomUUID()
  const ask = () => payUnder(service, merchant, { consentId, key })
  t.equal((await ask()).status, 201)
  t.equal((await ask()).status, 200)
  t.match(await pay(consentId, '0.30'), EXCEEDED)
})

/** Runs while another connection locks the mandate's row. */
async function held(consentId: string, run: () => Promise<void>): Promise<void> {
  await service.owner.query('set idle_in_transaction_session_timeout = 0')
  await service.owner.query('begin')
  try {
    await service.owner.query('select from payment_consents where id = $1 for no key update', [consentId])
    await run()
  } finally {
    await service.owner.query('rollback')
  }
}

t.test(
  'while another transaction locks the mandate, repeats are answered and new payments get SERVICE_UNAVAILABLE',
  async (t) => {
    const { consentId } = await authorisedMandate(service, merchant, caps(50, ['WEEK', 100]))
    const key = randomUUID()
    const first = await payUnder(service, merchant, { consentId, key })
    await held(consentId, async () => {
      const [repeat, ...others] = await Promise.all([
        payUnder(service, merchant, { consentId, key }),
        ...Array.from({ length: 30 }, () => payUnder(service, merchant, { consentId, isOnce: true })),
      ])
      t.match(repeat, { status: 200, body: { payment_id: first.body.payment_id } })
      for (const other of others)
        t.match(other, { status: 503, headers: { 'retry-after': '1' }, body: { code: 'SERVICE_UNAVAILABLE' } })
    })
    t.match((await readMandate(service, merchant, consentId)).body, { payment_count: 2 })
    t.equal((await pay(consentId, '1.00')).status, 201)
  },
)

t.test('caps that are not enforced are stored, shown and ignored', async (t) => {
  const lenient = await testService(t)
  const own = await lenient.merchant()
  const { consentId } = await authorisedMandate(lenient, own, caps(1, ['MONTH', 2]))
  t.equal((await payUnder(lenient, own, { consentId, changes: { amount: '500.00' } })).status, 201)
  t.match((await readMandate(lenient, own, consentId)).body, {
    caps_enforced: false,
    max_amount_per_payment: '1.00',
    allowances: [{ period: 'MONTH', used_amount: '550.00', remaining_amount: '0.00' }],
  })
})

t.test('all invariants of the database hold', async (t) => {
  t.same(await brokenInvariants(owner), [])
})
