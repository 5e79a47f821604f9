import { randomUUID } from 'node:crypto'
import t from 'tap'
import { z } from 'zod'
import { endMandates } from '../../src/consents/end-mandates.ts'
import { expireMandates } from '../../src/consents/expire-mandates.ts'
import { endConsent } from '../../src/consents/end-consent.ts'
import { claimEndedMandates } from '../../src/consents/sql.ts'
import { sql } from '../../src/db/sql.ts'
import { payMandates } from '../../src/payments/mandates/pay-mandates.ts'
import { settlePayments } from '../../src/payments/settle-payments.ts'
import { sampleData } from '../../src/wire/webhook-samples.ts'
import { createPayment, testService } from '../support/app.ts'
import { brokenInvariants } from '../support/invariants.ts'
import {
  authorisedMandate,
  endLeases,
  endMandate,
  mandateBody,
  passMandate,
  payUnder,
  readMandate,
} from '../support/mandates.ts'
import { eventsOf, stateOf, tally, times, webhookTypesOf } from '../support/payments.ts'
import { provesNoneWaits } from '../support/slow-bank.ts'
import { noAnswer, steeredBank } from '../support/steered-bank.ts'

const bank = steeredBank()
const service = await testService(t, { overrides: { bank: bank.connector } })
bank.behind(service.app.mockBank)
const merchant = await service.merchant()
const { app, owner } = service

async function revocationsOf(
  merchantId: string,
): Promise<{ payload: Record<string, unknown>; payment: string | null }[]> {
  const { rows } = await owner.query(
    `select payload, payment_intent_id as payment from webhook_deliveries where merchant_id = $1 and event_type = 'consent.revoked'`,
    [merchantId],
  )
  return rows
}

async function endedAtBank(consentId: string): Promise<boolean> {
  const { rows } = await owner.query(
    `select e.consent_reference from mock_bank.ended_mandates e
     join payment_consents c on c.bank_consent_reference = e.consent_reference where c.id = $1`,
    [consentId],
  )
  return rows.length > 0
}

t.test('a merchant ends a mandate at once and for good, and repeats have the same result', async (t) => {
  const own = await service.merchant()
  const { consentId, paymentId } = await authorisedMandate(service, own)
  const answer = await endMandate(service, own, consentId)
  t.match(answer, { status: 200, body: { consent_id: consentId, status: 'REVOKED' } })
  t.equal((await endMandate(service, own, consentId)).text, answer.text)
  t.match(await readMandate(service, own, consentId), { body: { status: 'REVOKED' } })
  t.match(await payUnder(service, own, { consentId }), {
    status: 409,
    body: { code: 'MANDATE_NOT_USABLE', error: /REVOKED/ },
  })
  const told = await revocationsOf(own.id)
  t.equal(told.length, 1, 'told once')
  t.match(told[0], {
    payment: null,
    payload: {
      eventType: 'consent.revoked',
      data: { object: 'consent', id: consentId, firstPaymentId: paymentId, status: 'REVOKED', revokedBy: 'MERCHANT' },
    },
  })
  const sample = sampleData('consent.revoked', {
    merchantId: own.id,
    paymentId,
    consentId,
    refundId: '',
    disputeId: '',
    payoutId: '',
    bankAccountId: '',
    endToEndId: '',
    now: '2026-11-21T09:30:00.000Z',
    evidenceSeconds: 1,
  })
  t.same(Object.keys(sample), Object.keys(Object(told[0]?.payload['data'])), 'a made-up event has the same members')
  await settlePayments(app)
  t.equal((await stateOf(service, paymentId)).payment, 'Settled', 'what was authorised before is paid')
})

t.test('a job reports the end to the bank, until it answers', async (t) => {
  const { consentId } = await authorisedMandate(service, merchant)
  bank.steer('endMandate', noAnswer)
  await endMandate(service, merchant, consentId)
  await endMandates(app)
  await endMandates(app)
  t.equal(bank.calls.endMandate, 2, 'of the test before, and once of this: a silent bank is not asked all the time')
  t.notOk(await endedAtBank(consentId))
  bank.steer('endMandate', undefined)
  await endLeases(service)
  await endMandates(app)
  t.ok(await endedAtBank(consentId))
  const { calls } = bank
  const asked = calls.endMandate
  await endLeases(service)
  await endMandates(app)
  t.equal(calls.endMandate, asked, 'nothing is left to tell')
})

t.test('the longer ago a mandate has ended, the less often its bank is asked', async (t) => {
  const { consentId } = await authorisedMandate(service, merchant)
  await endMandate(service, merchant, consentId)
  for (const [age, seconds] of [
    ['0 seconds', 10],
    ['10 minutes', 60],
    ['1 day', 300],
  ] as const) {
    await owner.query(
      'update payment_consents set updated_at = now() - $2::interval, revocation_due_at = now() where id = $1',
      [consentId, age],
    )
    // Its time stands still within a transaction.
    const wait = await app.pool.transaction(async (tx) => {
      await claimEndedMandates(tx, { limit: 50, secondsLeast: 10, secondsMost: 300 })
      return tx.oneFirst(sql.type(z.object({ seconds: z.number() }))`
        select extract(epoch from revocation_due_at - now())::float8 as seconds from payment_consents
        where id = ${consentId}
      `)
    })
    t.equal(Math.round(wait), seconds, age)
  }
  await endLeases(service)
  await endMandates(app)
  t.ok(await endedAtBank(consentId))
})

t.test("one mandate's slow bank does not delay others, and the job ends when it has answered", async (t) => {
  await provesNoneWaits(t, {
    bank,
    call: 'endMandate',
    job: (signal) => endMandates(app, signal),
    begin: async () => {
      const { consentId } = await authorisedMandate(service, merchant)
      await endMandate(service, merchant, consentId)
      return consentId
    },
    isDone: endedAtBank,
  })
})

t.test('a mandate that its payer ends is revoked by PAYER', async (t) => {
  const own = await service.merchant()
  const { consentId } = await authorisedMandate(service, own)
  await endConsent(app, { merchantId: own.id, consentId, by: 'PAYER' })
  await endConsent(app, { merchantId: own.id, consentId, by: 'MERCHANT' })
  const told = await revocationsOf(own.id)
  t.equal(told.length, 1)
  t.match(told[0]?.payload, { data: { revokedBy: 'PAYER' } })
})

t.test('only active mandates of the merchant can be ended', async (t) => {
  const stranger = await service.merchant()
  const { consentId } = await authorisedMandate(service, merchant)
  for (const id of [randomUUID(), 'x', consentId])
    t.match(await endMandate(service, stranger, id), { status: 404, body: { code: 'CONSENT_NOT_FOUND' } })
  t.match(await readMandate(service, merchant, consentId), { body: { status: 'AUTHORISED' } })
  const refused = { status: 409, body: { code: 'CONSENT_NOT_REVOCABLE' } }
  const single = await createPayment(service, merchant)
  t.match(await endMandate(service, merchant, single.body.consent_id), refused, 'a single payment')
  const waiting = await createPayment(service, merchant, mandateBody())
  t.match(await endMandate(service, merchant, waiting.body.consent_id), refused, 'not authorised yet')
  await service.call('POST', `/api/v1/payments/${waiting.body.payment_id}/cancel`, { merchant })
  t.match(await endMandate(service, merchant, waiting.body.consent_id), refused, 'rejected')
  await passMandate(service, consentId)
  t.match(await endMandate(service, merchant, consentId), refused, 'over, though no job was there yet')
  await expireMandates(app)
  t.match(await endMandate(service, merchant, consentId), refused, 'expired')
  t.same(await revocationsOf(stranger.id), [])
})

t.test('a job expires mandates, which are shown as EXPIRED even before it', async (t) => {
  const { consentId, paymentId } = await authorisedMandate(service, merchant)
  await passMandate(service, consentId)
  t.equal((await stateOf(service, paymentId)).consent, 'AUTHORISED')
  t.match(await readMandate(service, merchant, consentId), { body: { status: 'EXPIRED' } })
  await expireMandates(app)
  t.equal((await stateOf(service, paymentId)).consent, 'EXPIRED')
  t.match(await stateOf(service, paymentId), { payment: 'Authorised' }, 'a payment that was authorised is not touched')
})

t.test(
  "a payment without the bank's answer fails with its mandate, with the code of the side that ended it",
  async (t) => {
    for (const [by, code, source] of [
      ['PAYER', 'ACCESS_DENIED', 'PAYER'],
      ['MERCHANT', 'CANCELLED_BY_MERCHANT', 'MERCHANT'],
    ] as const) {
      const { consentId } = await authorisedMandate(service, merchant)
      const { body } = await payUnder(service, merchant, { consentId })
      await endConsent(app, { merchantId: merchant.id, consentId, by })
      const before = bank.calls.stageUnderMandate
      await payMandates(app)
      t.equal(bank.calls.stageUnderMandate, before, 'the bank is not asked at all')
      const read = await service.call('GET', `/api/v1/payments/${body.payment_id}`, { merchant })
      t.match(read.body, { status: 'Failed', failure: { code, source } })
      t.match(await eventsOf(service, body.payment_id), [{}, { changed_by: 'BATCH_JOB', raw_payload: /pay-mandates/ }])
      t.same(await webhookTypesOf(service, body.payment_id), ['payment.failed'])
    }
  },
)

t.test('a mandate that ends while the bank is asked allows no payment, whatever the bank answers', async (t) => {
  for (const call of ['stageUnderMandate', 'authoriseUnderMandate'] as const) {
    const { consentId } = await authorisedMandate(service, merchant)
    const { body } = await payUnder(service, merchant, { consentId })
    await settlePayments(app)
    const executed = bank.calls.execute
    bank.steer(call, async (answer) => {
      const said = await answer()
      await endConsent(app, { merchantId: merchant.id, consentId, by: 'PAYER' })
      return said
    })
    await payMandates(app)
    bank.steer(call, undefined)
    await settlePayments(app)
    t.match(await stateOf(service, body.payment_id), {
      payment: 'Failed',
      consent: 'REVOKED',
      failure: 'ACCESS_DENIED',
    })
    t.equal(bank.calls.execute, executed, 'the bank is not asked to execute what it authorised')
    const { rows } = await owner.query('select from mock_bank.bank_debits where payment_id = $1', [body.payment_id])
    t.equal(rows.length, 0, 'no money was taken')
  }
})

t.test('concurrent payments and end of their mandate: each payment is before or after the end', async (t) => {
  for (let round = 0; round < 5; round += 1) {
    const own = await service.merchant()
    const { consentId } = await authorisedMandate(service, own)
    const [ends, payments] = await Promise.all([
      times(4, () => endMandate(service, own, consentId)),
      times(8, () => payUnder(service, own, { consentId, changes: { amount: '1.00' } })),
      times(4, () => payMandates(app)),
    ])
    t.same(tally(ends.map(({ status }) => status)), { '200': 4 })
    t.same(
      payments.filter(({ status }) => status !== 201 && status !== 409),
      [],
    )
    await endLeases(service)
    await payMandates(app)
    await settlePayments(app)
    for (const { body } of payments.filter(({ status }) => status === 201))
      t.ok(['Settled', 'Failed'].includes((await stateOf(service, body.payment_id)).payment))
    t.equal((await revocationsOf(own.id)).length, 1)
    t.match(await payUnder(service, own, { consentId }), { status: 409 })
  }
})

t.test('the bank accepts no payment under a mandate whose end was reported', async (t) => {
  const { consentId } = await authorisedMandate(service, merchant)
  const { rows } = await owner.query('select bank_consent_reference as reference from payment_consents where id = $1', [
    consentId,
  ])
  const signal = AbortSignal.timeout(60_000)
  const order = {
    paymentId: randomUUID(),
    endToEndId: app.ids.endToEndId(),
    state: app.ids.token(),
    amount: '1.0000',
    currency: 'GBP',
    bankConsentReference: String(rows[0].reference),
    remittanceReference: undefined,
    scenario: undefined,
  }
  t.match(await app.mockBank.stageUnderMandate(order, signal), { outcome: 'staged' })
  await app.mockBank.endMandate({ bankConsentReference: order.bankConsentReference }, signal)
  await app.mockBank.endMandate({ bankConsentReference: order.bankConsentReference }, signal)
  t.match(await app.mockBank.stageUnderMandate(order, signal), { outcome: 'staged' }, 'it stands by what it said')
  const other = { ...order, paymentId: randomUUID(), endToEndId: app.ids.endToEndId(), state: app.ids.token() }
  t.match(await app.mockBank.stageUnderMandate(other, signal), { outcome: 'rejected', failureCode: 'ACCESS_DENIED' })
  t.match(await app.mockBank.authoriseUnderMandate(other, signal), { outcome: 'rejected' })
  t.match(await app.mockBank.stageUnderMandate({ ...other, bankConsentReference: 'mock-unknown' }, signal), {
    outcome: 'rejected',
    failureCode: 'AUTHORISATION_FAILED',
  })
})

t.test('all invariants of the database hold', async (t) => {
  t.same(await brokenInvariants(owner), [])
})
