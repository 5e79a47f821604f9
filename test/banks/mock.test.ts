import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { FailureCode } from '../../src/lib/failure-codes.ts'
import { BankUnavailableError } from '../../src/banks/connector.ts'
import { books, consentRequest, decideOn, executionOf, patience, refundOf, testMockBank } from '../support/mock-bank.ts'

const { bank, pool } = await testMockBank(t)

/** Approves and exchanges; what the bank answered, its silences as 'no answer'. */
async function authorise(consent: ReturnType<typeof consentRequest>) {
  const code = (await decideOn(bank, consent)) ?? 'none'
  return { code, outcome: await bank.exchangeCode({ state: consent.state, code }, patience()) }
}

t.test('an approved payment is authorised, executed and refunded, and the books hold each once', async (t) => {
  const consent = consentRequest({ amount: '12.3400', currency: 'EUR' })
  const { outcome } = await authorise(consent)
  t.match(outcome, { outcome: 'authorised', bankReference: /^MB[0-9a-f]{32}$/, settleInSeconds: 0 })
  t.match(await bank.execute(executionOf(consent), patience()), { outcome: 'executed', bankReference: /^MB/ })
  t.match(await bank.refund(refundOf(consent), patience()), { outcome: 'executed', bankReference: /^MB/ })
  t.same(await books(pool, consent.endToEndId), { debits: ['12.3400 EUR'], credits: ['12.3400 EUR'] })
})

const EXECUTED = [
  'success',
  'otp-wrong-then-ok',
  'callback-before-redirect',
  'duplicate-callback',
  'refund-fails',
  'dispute-won',
  'dispute-payer:OTHER',
]

for (const scenario of EXECUTED) {
  t.test(`${scenario}: money moves`, async (t) => {
    const consent = consentRequest({ scenario })
    t.match((await authorise(consent)).outcome, { outcome: 'authorised', settleInSeconds: 0 })
    t.match(await bank.execute(executionOf(consent), patience()), { outcome: 'executed' })
  })
}

t.test('success-slow-settle returns the time of the settlement', async (t) => {
  const { outcome } = await authorise(consentRequest({ scenario: 'success-slow-settle:2m' }))
  t.match(outcome, { outcome: 'authorised', settleInSeconds: 120 })
})

const REFUSED_AT_EXCHANGE: [string, FailureCode][] = [
  ['sca-fails', 'AUTHORISATION_FAILED'],
  ['limit-exceeded', 'LIMIT_EXCEEDED'],
  ['account-blocked', 'ACCOUNT_BLOCKED'],
]

for (const [scenario, failureCode] of REFUSED_AT_EXCHANGE) {
  t.test(`${scenario}: the exchange fails with ${failureCode}, and no money moves`, async (t) => {
    const consent = consentRequest({ scenario })
    t.same((await authorise(consent)).outcome, { outcome: 'rejected', failureCode })
    t.match(await bank.execute(executionOf(consent), patience()), {
      outcome: 'rejected',
      failureCode: 'AUTHORISATION_FAILED',
    })
    t.same((await books(pool, consent.endToEndId)).debits, [])
  })
}

const REFUSED_AT_EXECUTION: [string, FailureCode][] = [
  ['insufficient-funds', 'INSUFFICIENT_FUNDS'],
  ['fraud-stop', 'FRAUD_SUSPECTED'],
  ['authorised-then-rejected', 'BANK_ERROR'],
  ['settlement-fails', 'SETTLEMENT_FAILED'],
]

for (const [scenario, failureCode] of REFUSED_AT_EXECUTION) {
  t.test(`${scenario}: authorised, then rejected with ${failureCode}, and no money moves`, async (t) => {
    const consent = consentRequest({ scenario })
    t.match((await authorise(consent)).outcome, { outcome: 'authorised' })
    for (const _ of [1, 2])
      t.same(await bank.execute(executionOf(consent), patience()), { outcome: 'rejected', failureCode })
    t.same((await books(pool, consent.endToEndId)).debits, [])
  })
}

t.test('bank-timeout: two executions get no answer, the third is rejected, and so is every later one', async (t) => {
  const consent = consentRequest({ scenario: 'bank-timeout' })
  t.match((await authorise(consent)).outcome, { outcome: 'authorised' })
  const order = executionOf(consent)
  for (const _ of [1, 2]) await t.rejects(bank.execute(order, patience()), { name: 'BankUnavailableError' })
  for (const _ of [3, 4])
    t.same(await bank.execute(order, patience()), { outcome: 'rejected', failureCode: 'BANK_TIMEOUT' })
  t.same((await books(pool, consent.endToEndId)).debits, [])
})

t.test('bank-timeout: a caller that gives up is let go at once', async (t) => {
  const { bank: slow } = await testMockBank(t, { silenceMs: 600_000 })
  const consent = consentRequest({ scenario: 'bank-timeout' })
  await decideOn(slow, consent)
  await t.rejects(slow.execute(executionOf(consent), AbortSignal.timeout(50)), { name: 'BankUnavailableError' })
})

t.test('bank-down: the first exchange gets no answer, the repeat is rejected, and so is every later one', async (t) => {
  const consent = consentRequest({ scenario: 'bank-down' })
  const code = (await decideOn(bank, consent)) ?? ''
  const exchange = () => bank.exchangeCode({ state: consent.state, code }, patience())
  await t.rejects(exchange(), { name: 'BankUnavailableError' })
  for (const _ of [2, 3]) t.same(await exchange(), { outcome: 'rejected', failureCode: 'BANK_UNAVAILABLE' })
})

t.test('never-returns and payer-cancels give no code, and nothing is a code for them', async (t) => {
  for (const scenario of ['never-returns', 'payer-cancels']) {
    const consent = consentRequest({ scenario })
    t.equal(await decideOn(bank, consent), undefined)
    for (const code of ['', 'null', 'none']) {
      t.same(await bank.exchangeCode({ state: consent.state, code }, patience()), { outcome: 'code-invalid' }, scenario)
    }
  }
})

t.test('refund-fails: the refund is rejected, and no money moves', async (t) => {
  const consent = consentRequest({ scenario: 'refund-fails' })
  await authorise(consent)
  await bank.execute(executionOf(consent), patience())
  t.same(await bank.refund(refundOf(consent), patience()), { outcome: 'refused', failureCode: 'ACCOUNT_CLOSED' })
  t.same((await books(pool, consent.endToEndId)).credits, [])
})

t.test('a code is good for its own state alone', async (t) => {
  const [mine, other, undecided] = [consentRequest(), consentRequest(), consentRequest()]
  const { code } = await authorise(mine)
  await authorise(other)
  for (const request of [
    { state: other.state, code },
    { state: mine.state, code: `${code}x` },
    { state: mine.state, code: code.slice(1) },
    { state: undecided.state, code },
    { state: '', code: '' },
  ]) {
    t.same(await bank.exchangeCode(request, patience()), { outcome: 'code-invalid' })
  }
})

t.test('twenty concurrent exchanges all get the same answer', async (t) => {
  const consent = consentRequest()
  const { code, outcome } = await authorise(consent)
  const twins = Array.from({ length: 20 }, () => bank.exchangeCode({ state: consent.state, code }, patience()))
  for (const twin of await Promise.all(twins)) t.same(twin, outcome)
})

t.test('the first decision counts: twenty presses of both buttons end in one answer', async (t) => {
  const consent = consentRequest()
  const presses = Array.from({ length: 20 }, (_, index) =>
    decideOn(bank, consent, index % 2 === 0 ? 'approve' : 'cancel'),
  )
  t.equal(new Set(await Promise.all(presses)).size, 1)
})

t.test('twenty executions of one payment take the money once', async (t) => {
  const consent = consentRequest()
  await authorise(consent)
  const order = executionOf(consent)
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => bank.execute(order, patience())))
  t.equal(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size, 1)
  t.match(outcomes[0], { outcome: 'executed' })
  t.same((await books(pool, consent.endToEndId)).debits, ['50.0000 GBP'])
})

t.test('twenty repeats of one refund give the money back once', async (t) => {
  const consent = consentRequest()
  await authorise(consent)
  await bank.execute(executionOf(consent), patience())
  const order = refundOf(consent, { amount: '10.0000' })
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => bank.refund(order, patience())))
  t.equal(new Set(outcomes.map((outcome) => JSON.stringify(outcome))).size, 1)
  t.same((await books(pool, consent.endToEndId)).credits, ['10.0000 GBP'])
})

t.test('twenty refunds together never give back more than was taken', async (t) => {
  const consent = consentRequest()
  await authorise(consent)
  await bank.execute(executionOf(consent), patience())
  const refunds = Array.from({ length: 20 }, () => bank.refund(refundOf(consent, { amount: '20.0000' }), patience()))
  const outcomes = await Promise.all(refunds)
  t.equal(outcomes.filter(({ outcome }) => outcome === 'executed').length, 2)
  t.same((await books(pool, consent.endToEndId)).credits, ['20.0000 GBP', '20.0000 GBP'])
})

t.test('a payment that the payer did not authorise is not executed', async (t) => {
  const consent = consentRequest()
  await authorise(consent)
  const order = executionOf(consent)
  const cancelled = consentRequest()
  await decideOn(bank, cancelled, 'cancel')
  const foreign = [
    { ...order, amount: '50.0001' },
    { ...order, currency: 'EUR' },
    { ...order, endToEndId: consentRequest().endToEndId },
    executionOf(cancelled),
    executionOf(consentRequest()),
  ]
  for (const wrong of foreign) {
    t.same(await bank.execute(wrong, patience()), { outcome: 'rejected', failureCode: 'AUTHORISATION_FAILED' })
  }
  t.same((await books(pool, consent.endToEndId)).debits, [])
})

t.test('an end-to-end id pays for one payment only', async (t) => {
  const consent = consentRequest()
  await authorise(consent)
  await bank.execute(executionOf(consent), patience())
  const again = { ...executionOf(consent), paymentId: randomUUID() }
  t.same(await bank.execute(again, patience()), { outcome: 'rejected', failureCode: 'DUPLICATE_PAYMENT' })
})

t.test('a payment that was not debited, or not in that currency, is not refunded', async (t) => {
  const unpaid = consentRequest()
  await authorise(unpaid)
  t.same(await bank.refund(refundOf(unpaid), patience()), { outcome: 'refused', failureCode: 'BANK_ERROR' })
  t.same(await bank.refund(refundOf(consentRequest()), patience()), { outcome: 'refused', failureCode: 'BANK_ERROR' })
  const paid = consentRequest()
  await authorise(paid)
  await bank.execute(executionOf(paid), patience())
  t.match(await bank.refund(refundOf(paid, { currency: 'EUR' }), patience()), { outcome: 'refused' })
  t.match(await bank.refund(refundOf(paid, { paymentId: randomUUID() }), patience()), { outcome: 'refused' })
  t.same((await books(pool, paid.endToEndId)).credits, [])
})

t.test('an aborted call fails without an answer of the bank, and nothing is booked', async (t) => {
  const consent = consentRequest()
  await authorise(consent)
  await t.rejects(bank.execute(executionOf(consent), AbortSignal.abort()), BankUnavailableError)
  await t.rejects(bank.refund(refundOf(consent), AbortSignal.abort()), BankUnavailableError)
  await t.rejects(bank.exchangeCode({ state: consent.state, code: 'x' }, AbortSignal.abort()), BankUnavailableError)
  t.same(await books(pool, consent.endToEndId), { debits: [], credits: [] })
})

t.test("a consent can't be staged under an unknown scenario", async (t) => {
  await t.rejects(decideOn(bank, consentRequest({ scenario: 'nope' })), { code: 'VALIDATION_FAILED' })
})
