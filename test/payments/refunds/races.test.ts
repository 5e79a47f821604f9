import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import { resumeRefunds } from '../../../src/payments/refunds/execute-refund.ts'
import { parseAmount, toNumeric } from '../../../src/lib/money.ts'
import { testService } from '../../support/app.ts'
import {
  bookingsOf,
  movesOf,
  refundWithRetry,
  refund,
  resumeAllRefunds,
  settledPayment,
  stateOf,
  tally,
  times,
  webhooksOf,
} from '../../support/payments.ts'
import { noAnswer, steeredBank } from '../../support/steered-bank.ts'

const bank = steeredBank()
const service = await testService(t, { overrides: { bank: bank.connector } })
bank.behind(service.app.mockBank)
const { app, owner } = service
const merchant = await service.merchant()

t.afterEach(() => bank.steer('refund', undefined))

type Refund = { id: string; status: 'PENDING' | 'EXECUTED' | 'FAILED'; amount: string }

async function refundsOf(id: string): Promise<Refund[]> {
  const { rows } = await owner.query<Refund>(
    'select id, status::text as status, amount from payment_refunds where payment_intent_id = $1 order by created_at',
    [id],
  )
  return rows
}

async function amountsOf(id: string): Promise<{ refunded: string; reserved: string }> {
  const { rows } = await owner.query(
    'select refunded_amount as refunded, refund_reserved_amount as reserved from payment_intents where id = $1',
    [id],
  )
  return rows[0]
}

function sumOf(amounts: readonly string[]): string {
  return toNumeric(amounts.reduce((sum, amount) => sum + parseAmount(amount), 0n))
}

const resumeAll = (id: string): Promise<void> => resumeAllRefunds(service, id)

/** Conditions that hold for a payment whose refunds are all finished. */
async function assertWhole(t: Test, id: string, gross: string): Promise<void> {
  const refunds = await refundsOf(id)
  const executed = refunds.filter(({ status }) => status === 'EXECUTED').map(({ amount }) => amount)
  const failed = refunds.filter(({ status }) => status === 'FAILED').length
  const total = sumOf(executed)
  t.same(await amountsOf(id), { refunded: total, reserved: '0.0000' }, 'nothing stays reserved')
  t.ok(parseAmount(total) <= parseAmount(gross), 'never more than was paid')
  t.same((await bookingsOf(service, id)).credits.toSorted(), executed.toSorted(), 'the bank gave back just that')
  const isComplete = parseAmount(total) === parseAmount(gross)
  t.equal((await stateOf(service, id)).payment, isComplete ? 'Refunded' : 'Settled')
  const whole = ['AwaitingAuthorisation', 'Authorised', 'Settled', ...(isComplete ? ['Refunded'] : [])]
  t.same(await movesOf(service, id), whole)
  const webhooks = await webhooksOf(service, id)
  t.same(
    webhooks.map(({ sequence }) => sequence),
    webhooks.map((_, index) => index + 1),
    'no gap and no twin in the sequence',
  )
  const told = webhooks.slice(3)
  const counts = {
    ...(isComplete ? { 'payment.refunded': 1 } : {}),
    ...(executed.length > Number(isComplete)
      ? { 'payment.partially_refunded': executed.length - Number(isComplete) }
      : {}),
    ...(failed > 0 ? { 'refund.failed': failed } : {}),
  }
  t.same(tally(told.map(({ event_type }) => event_type)), counts, 'one webhook for each end')
  t.same(new Set(told.map(({ payload }) => payload.data.refund.id)), new Set(refunds.map((each) => each.id)))
  let before = 0n
  for (const { event_type, payload } of told) {
    const { amount, refundedTotal } = payload.data.refund
    before += event_type === 'refund.failed' ? 0n : parseAmount(amount)
    t.equal(parseAmount(refundedTotal), before, `${event_type} tells the total as it was then`)
  }
}

t.test('100 concurrent partial refunds never refund more than was paid', async (t) => {
  const gross = '50.00'
  for (const amountOf of [
    // 68 of them are 49.64, and 0.36 is left.
    () => '0.73',
    // All different, and none divides the total.
    (index: number) => `${(index * 37) % 5}.${String(((index * 53) % 97) + 1).padStart(2, '0')}`,
  ]) {
    const id = await settledPayment(service, merchant, { amount: gross })
    const wished = Array.from({ length: 100 }, (_, index) => amountOf(index))
    t.ok(parseAmount(sumOf(wished)) > parseAmount(gross))
    const answers = await times(100, (index) =>
      refundWithRetry(service, merchant, { id, body: { amount: wished[index] } }),
    )
    // On a busy machine the bank may take longer than a request waits for it: 202, and the job continues.
    const taken = wished.filter((_, index) => [200, 202].includes(answers[index]?.status ?? 0))
    const refused = wished.filter((_, index) => (answers[index]?.status ?? 0) >= 400)
    t.equal(taken.length + refused.length, 100, 'every one is taken or refused')
    const codes = new Set(answers.map(({ body }) => body.code).filter((code) => code !== undefined))
    // The second error where the earlier refunds add up to exactly the paid amount.
    for (const code of ['REFUND_EXCEEDS_AVAILABLE', 'PAYMENT_ALREADY_REFUNDED']) codes.delete(code)
    t.same([...codes], [], 'refused for no other reason')
    await resumeAll(id)
    const refunds = await refundsOf(id)
    t.ok(
      refunds.every(({ status }) => status === 'EXECUTED'),
      'the bank took them all',
    )
    t.same(
      refunds.map(({ amount }) => amount).toSorted(),
      taken.map((each) => sumOf([each])).toSorted(),
      'those that were taken, and no other, became refunds',
    )
    const left = parseAmount(gross) - parseAmount(sumOf(taken))
    for (const amount of refused) t.ok(parseAmount(amount) > left, 'only what did not fit was refused')
    await assertWhole(t, id, gross)
    const last = await refund(service, merchant, { id })
    t.match(
      last,
      left === 0n ? { status: 409 } : { status: 200, body: { status: 'Refunded', remaining_amount: '0.00' } },
    )
    await assertWhole(t, id, gross)
  }
})

t.test('100 concurrent partial refunds of exactly the amount complete the payment once', async (t) => {
  const id = await settledPayment(service, merchant, { amount: '33.00' })
  const answers = await times(100, () => refundWithRetry(service, merchant, { id, body: { amount: '0.33' } }))
  t.ok(answers.every(({ status }) => status === 200 || status === 202))
  await resumeAll(id)
  await assertWhole(t, id, '33.00')
  t.match(await refund(service, merchant, { id }), { status: 409, body: { code: 'PAYMENT_ALREADY_REFUNDED' } })
})

t.test('an amount that the bank rejects is available again, and each rejection is announced once', async (t) => {
  const id = await settledPayment(service, merchant)
  let asked = 0
  bank.steer('refund', (answer) => {
    asked += 1
    return asked % 3 === 0 ? Promise.resolve({ outcome: 'refused', failureCode: 'LIMIT_EXCEEDED' }) : answer()
  })
  const answers = await times(60, () => refundWithRetry(service, merchant, { id, body: { amount: '0.97' } }))
  const counts = tally(answers.map(({ status, body }) => body.code ?? status))
  const waiting = counts['202'] ?? 0
  await resumeAll(id)
  const ends = tally((await refundsOf(id)).map(({ status }) => status))
  t.ok((ends['FAILED'] ?? 0) - (counts['REFUND_REFUSED'] ?? 0) <= waiting, 'who was refused was told so')
  t.ok((ends['EXECUTED'] ?? 0) - (counts['200'] ?? 0) <= waiting, 'and who was not')
  t.ok((ends['FAILED'] ?? 0) > 10 && (ends['EXECUTED'] ?? 0) > 10)
  await assertWhole(t, id, '50.00')
  bank.steer('refund', undefined)
  t.match(await refund(service, merchant, { id }), { status: 200, body: { status: 'Refunded' } })
  await assertWhole(t, id, '50.00')
})

t.test('with a bank that executes, rejects, is silent or loses answers, every penny is accounted for', async (t) => {
  const id = await settledPayment(service, merchant, { amount: '40.00' })
  let asked = 0
  bank.steer('refund', async (answer) => {
    asked += 1
    if (asked % 5 === 0) return { outcome: 'refused', failureCode: 'ACCOUNT_BLOCKED' }
    if (asked % 5 === 1) return noAnswer()
    if (asked % 5 === 2) {
      await answer()
      return noAnswer()
    }
    return answer()
  })
  const answers = await times(50, () => refundWithRetry(service, merchant, { id, body: { amount: '1.23' } }))
  const first = tally(answers.map(({ status, body }) => body.code ?? `${status} ${body.refund_status}`))
  t.ok((first['202 PENDING'] ?? 0) > 5, 'some have to wait')
  const { refunded, reserved } = await amountsOf(id)
  t.ok(parseAmount(refunded) + parseAmount(reserved) <= parseAmount('40.00'))
  bank.steer('refund', undefined)
  // Jobs of two workers, and further requests of merchants.
  const [, , more] = await Promise.all([
    resumeAll(id),
    resumeAll(id),
    times(20, () => refundWithRetry(service, merchant, { id, body: { amount: '0.41' } })),
  ])
  t.ok(more.every(({ status }) => [200, 202, 422].includes(status)))
  await resumeAll(id)
  await assertWhole(t, id, '40.00')
})

t.test('50 concurrent repeats under one key create one refund, whatever the bank answers', async (t) => {
  for (const [behaviour, expected, repeated] of [
    [undefined, 'EXECUTED', { status: 200, body: { refund_status: 'EXECUTED' } }],
    [noAnswer, 'PENDING', { status: 202, body: { refund_status: 'PENDING' } }],
    [
      async () => ({ outcome: 'refused', failureCode: 'LIMIT_EXCEEDED' }),
      'FAILED',
      { status: 409, body: { code: 'REFUND_REFUSED', error: /LIMIT_EXCEEDED/ } },
    ],
  ] as const) {
    const id = await settledPayment(service, merchant)
    bank.steer('refund', behaviour)
    const key = randomUUID()
    const asked = bank.calls.refund
    const answers = await times(50, () => refundWithRetry(service, merchant, { id, key, body: { amount: '7.00' } }))
    t.equal(bank.calls.refund - asked, 1, 'the bank is asked once')
    // On a busy machine the bank may take longer than a request waits for it.
    if (expected !== 'PENDING') await resumeAll(id)
    t.match(await refundsOf(id), [{ status: expected, amount: '7.0000' }])
    const codes = Object.keys(tally(answers.map(({ body }) => body.code ?? body.refund_status)))
    const allowed = ['PENDING', expected, ...(expected === 'FAILED' ? ['REFUND_REFUSED'] : [])]
    t.same(
      codes.filter((code) => !allowed.includes(code)),
      [],
    )
    t.match(await refund(service, merchant, { id, key, body: { amount: '7.00' } }), repeated)
    t.match(await refund(service, merchant, { id, key, body: { amount: '7.01' } }), {
      status: 422,
      body: { code: 'IDEMPOTENCY_KEY_REUSED' },
    })
    t.equal((await refundsOf(id)).length, 1)
    bank.steer('refund', undefined)
    await resumeAll(id)
    await assertWhole(t, id, '50.00')
  }
})

t.test('a repeat of a rejected refund returns the same error, and a new key tries again', async (t) => {
  const id = await settledPayment(service, merchant)
  const key = randomUUID()
  bank.steer('refund', async () => ({ outcome: 'refused', failureCode: 'ACCOUNT_CLOSED' }))
  const first = await refund(service, merchant, { id, key })
  bank.steer('refund', undefined)
  const repeat = await refund(service, merchant, { id, key })
  const { request_id: _a, ...told } = first.body
  const { request_id: _b, ...toldAgain } = repeat.body
  t.strictSame([repeat.status, toldAgain], [409, told])
  t.match(await refund(service, merchant, { id, key: randomUUID() }), { status: 200, body: { status: 'Refunded' } })
  t.strictSame((await refund(service, merchant, { id, key })).status, 409, 'also once another one went through')
  await assertWhole(t, id, '50.00')
})

t.test('of many requests with the same refund_amount_available, one succeeds', async (t) => {
  const id = await settledPayment(service, merchant)
  const body = { amount: '20.00', refund_amount_available: '50.00' }
  const answers = await times(30, () => refundWithRetry(service, merchant, { id, body }))
  t.same(tally(answers.map((answer) => answer.body.code ?? answer.status)), {
    '200': 1,
    REFUND_AVAILABLE_MISMATCH: 29,
  })
  t.match(await refund(service, merchant, { id, body: { refund_amount_available: '30' } }), {
    status: 200,
    body: { status: 'Refunded' },
  })
  await assertWhole(t, id, '50.00')
})

t.test('refunds of a held, a suspended and a disabled merchant work under load', async (t) => {
  for (const set of ['payout_held = true, payout_held_at = now()', `kyb_status = 'SUSPENDED'`, 'is_active = false']) {
    const gated = await service.merchant()
    const id = await settledPayment(service, gated, { amount: '10.00' })
    await owner.query(`update merchants set ${set} where id = $1`, [gated.id])
    const answers = await times(10, () => refundWithRetry(service, gated, { id, body: { amount: '1.00' } }))
    t.same(tally(answers.map(({ status }) => status)), { '200': 10 }, set)
    await assertWhole(t, id, '10.00')
  }
})

t.test('a late answer that contradicts the recorded one does not change it', async (t) => {
  const id = await settledPayment(service, merchant)
  bank.steer('refund', async () => {
    bank.steer('refund', undefined)
    await owner.query(`update payment_refunds set resume_at = now() where status = 'PENDING'`)
    await resumeRefunds(app)
    return { outcome: 'refused', failureCode: 'BANK_ERROR' }
  })
  t.match(await refund(service, merchant, { id }), {
    status: 200,
    body: { status: 'Refunded', refund_status: 'EXECUTED', refunded_amount: '50.00' },
  })
  await assertWhole(t, id, '50.00')
})
