import t from 'tap'
import { payMandates } from '../../../src/payments/mandates/pay-mandates.ts'
import { claimMandatePayments } from '../../../src/payments/mandates/sql.ts'
import { settlePayments } from '../../../src/payments/settle-payments.ts'
import { stagePayments } from '../../../src/payments/stage-payments.ts'
import { createPayment, testService } from '../../support/app.ts'
import { brokenInvariants } from '../../support/invariants.ts'
import { authorisedMandate, endLeases, mandateBody, passMandate, payUnder } from '../../support/mandates.ts'
import { bookingsOf, movesOf, stateOf, times, webhookTypesOf } from '../../support/payments.ts'
import { provesNoneWaits } from '../../support/slow-bank.ts'
import { noAnswer, steeredBank } from '../../support/steered-bank.ts'

const bank = steeredBank('remote')
const service = await testService(t, { overrides: { bank: bank.connector } })
bank.behind(service.app.mockBank)
const merchant = await service.merchant()
const { app, owner } = service

const readPayment = (id: string) => service.call('GET', `/api/v1/payments/${id}`, { merchant })

const WHOLE_WAY = ['Initiated', 'AwaitingAuthorisation', 'Authorised', 'Settled']

t.test('a remote bank gets the mandate with the first payment', async (t) => {
  const { body } = await createPayment(
    service,
    merchant,
    mandateBody({ control_parameters: { max_amount_per_payment: '75.5' }, valid_to: '2030-01-01T00:00:00Z' }),
  )
  t.match(app.mockBank.readRequest(new URL(body.redirect_url).searchParams.get('request') ?? ''), {
    mandate: { maxAmountPerPayment: '75.5000', limits: [], validTo: '2030-01-01T00:00:00.000Z' },
  })
})

t.test('a silent bank is asked again later, and executes the payment once', async (t) => {
  for (const call of ['stageUnderMandate', 'authoriseUnderMandate'] as const) {
    const { consentId } = await authorisedMandate(service, merchant)
    const { body } = await payUnder(service, merchant, { consentId })
    const before = bank.calls[call]
    // The first answer is lost in transit, the second request never reaches the bank.
    let asked = 0
    bank.steer(call, async (answer) => {
      asked += 1
      if (asked === 1) await answer()
      return noAnswer()
    })
    const { rows: began } = await owner.query('select now() as at')
    await payMandates(app)
    // Two seconds later, which may pass on a busy machine before the job runs once more.
    const { rowCount } = await owner.query(
      `update payment_intents set settle_at = settle_at + interval '1 hour'
       where id = $1 and settle_at >= $2::timestamptz + interval '2 seconds'`,
      [body.payment_id, began[0].at],
    )
    t.equal(rowCount, 1)
    await payMandates(app)
    t.equal(bank.calls[call] - before, 1, 'not at once')
    await endLeases(service)
    await payMandates(app)
    bank.steer(call, undefined)
    t.match(await stateOf(service, body.payment_id), {
      payment: call === 'stageUnderMandate' ? 'Initiated' : 'AwaitingAuthorisation',
    })
    await stagePayments(app)
    await endLeases(service)
    await times(3, () => payMandates(app))
    await settlePayments(app)
    t.same(await movesOf(service, body.payment_id), WHOLE_WAY)
    t.same(await webhookTypesOf(service, body.payment_id), [
      'payment.initiated',
      'payment.authorized',
      'payment.settled',
    ])
    t.same(await bookingsOf(service, body.payment_id), { debits: ['10.0000'], credits: [] })
  }
})

t.test('a bank that stays silent is asked ever less often, at least once a minute', async (t) => {
  const { consentId } = await authorisedMandate(service, merchant)
  const { body } = await payUnder(service, merchant, { consentId })
  bank.steer('stageUnderMandate', noAnswer)
  for (const [age, seconds] of [
    ['0 seconds', 2],
    ['5 minutes', 30],
    ['1 hour', 60],
  ] as const) {
    await endLeases(service)
    await owner.query('update payment_intents set updated_at = now() - $2::interval where id = $1', [
      body.payment_id,
      age,
    ])
    const { rows: began } = await owner.query('select now() as at')
    await payMandates(app)
    const { rows } = await owner.query(
      `select extract(epoch from settle_at - $2::timestamptz)::float8 as seconds from payment_intents where id = $1`,
      [body.payment_id, began[0].at],
    )
    t.ok(rows[0].seconds >= seconds && rows[0].seconds < seconds + 2, `${age}: ${rows[0].seconds}`)
  }
  bank.steer('stageUnderMandate', undefined)
  await endLeases(service)
  await payMandates(app)
})

t.test('what a silent bank is asked again comes after what was due before', async (t) => {
  const { consentId } = await authorisedMandate(service, merchant)
  const { body: silent } = await payUnder(service, merchant, { consentId })
  bank.steer('stageUnderMandate', noAnswer)
  await payMandates(app)
  bank.steer('stageUnderMandate', undefined)
  const { body: other } = await payUnder(service, merchant, { consentId })
  const claim = { limit: 1, leaseSeconds: 0, consentSeconds: 5_400, exceptBanks: [] }
  t.match(await claimMandatePayments(app.pool, claim), [{ id: other.payment_id }], 'not before its time')
  await owner.query('update payment_intents set settle_at = now(), locked_until = null where id = $1', [
    silent.payment_id,
  ])
  t.match(await claimMandatePayments(app.pool, claim), [{ id: other.payment_id }])
  await endLeases(service)
  t.match(await claimMandatePayments(app.pool, claim), [{ id: silent.payment_id }])
  await endLeases(service)
  await payMandates(app)
})

t.test("a worker that dies before or after the bank's answer neither loses nor doubles a payment", async (t) => {
  for (const call of ['stageUnderMandate', 'authoriseUnderMandate'] as const) {
    const { consentId } = await authorisedMandate(service, merchant)
    const { body } = await payUnder(service, merchant, { consentId })
    bank.steer(call, async (answer) => {
      await answer()
      // To the database this looks like a process that died: nothing more is written, and its lease expires.
      throw new Error('the worker is killed')
    })
    await payMandates(app)
    bank.steer(call, undefined)
    await payMandates(app)
    t.not((await stateOf(service, body.payment_id)).payment, 'Authorised', 'its lease still runs')
    await endLeases(service)
    await payMandates(app)
    await settlePayments(app)
    t.same(await movesOf(service, body.payment_id), WHOLE_WAY)
    t.same(await bookingsOf(service, body.payment_id), { debits: ['10.0000'], credits: [] })
  }
})

t.test('many concurrent workers move a payment once', async (t) => {
  const { consentId } = await authorisedMandate(service, merchant)
  const made = await times(10, () => payUnder(service, merchant, { consentId, changes: { amount: '1.00' } }))
  const before = bank.calls.authoriseUnderMandate
  await times(5, () => payMandates(app))
  await times(5, () => settlePayments(app))
  for (const { body } of made) {
    t.same(await movesOf(service, body.payment_id), WHOLE_WAY)
    t.same(await bookingsOf(service, body.payment_id), { debits: ['1.0000'], credits: [] })
  }
  t.ok(bank.calls.authoriseUnderMandate - before >= 10)
})

t.test('a payment fails when its mandate ends while the bank is silent', async (t) => {
  const { consentId } = await authorisedMandate(service, merchant)
  const { body } = await payUnder(service, merchant, { consentId })
  bank.steer('authoriseUnderMandate', noAnswer)
  await payMandates(app)
  await passMandate(service, consentId)
  await endLeases(service)
  await payMandates(app)
  bank.steer('authoriseUnderMandate', undefined)
  t.match(await stateOf(service, body.payment_id), { payment: 'Failed', failure: 'CONSENT_EXPIRED' })
  t.same(await movesOf(service, body.payment_id), ['Initiated', 'AwaitingAuthorisation', 'Failed'])
})

t.test(
  'a payment whose bank is silent for as long as a payer would have fails, and the bank is not asked again',
  async (t) => {
    for (const [call, code, moves] of [
      ['stageUnderMandate', 'BANK_UNAVAILABLE', ['Initiated', 'Failed']],
      ['authoriseUnderMandate', 'BANK_TIMEOUT', ['Initiated', 'AwaitingAuthorisation', 'Failed']],
    ] as const) {
      const { consentId } = await authorisedMandate(service, merchant)
      const { body } = await payUnder(service, merchant, { consentId })
      const age = (seconds: number) =>
        owner.query('update payment_intents set created_at = now() - make_interval(secs => $2) where id = $1', [
          body.payment_id,
          seconds,
        ])
      bank.steer(call, noAnswer)
      await payMandates(app)
      await age(app.config.consentSeconds - 60)
      await endLeases(service)
      const before = bank.calls[call]
      await payMandates(app)
      t.equal(bank.calls[call] - before, 1, 'not over yet')
      t.not((await stateOf(service, body.payment_id)).payment, 'Failed')
      await age(app.config.consentSeconds)
      bank.steer(call, undefined)
      for (const _ of [1, 2]) {
        await endLeases(service)
        await payMandates(app)
      }
      t.equal(bank.calls[call] - before, 1, 'not asked again, though it would answer now')
      t.match(await stateOf(service, body.payment_id), { payment: 'Failed', consent: 'AUTHORISED', failure: code })
      t.same(await movesOf(service, body.payment_id), moves)
      t.match((await readPayment(body.payment_id)).body, { failure: { source: 'ASPSP_REJECTION' } })
      t.equal((await webhookTypesOf(service, body.payment_id)).at(-1), 'payment.failed')
      await settlePayments(app)
      t.same(await bookingsOf(service, body.payment_id), { debits: [], credits: [] })
    }
  },
)

t.test('all invariants of the database hold', async (t) => {
  t.same(await brokenInvariants(owner), [])
})

t.test('payments of a bank that has no slot left are not claimed, and those of others are', async (t) => {
  const { consentId } = await authorisedMandate(service, merchant)
  const { body } = await payUnder(service, merchant, { consentId })
  const claim = async (...exceptBanks: string[]) =>
    (await claimMandatePayments(app.pool, { limit: 50, leaseSeconds: 60, consentSeconds: 5_400, exceptBanks })).map(
      ({ id }) => id,
    )
  t.same(await claim('another', 'mock'), [])
  t.same(await claim('another'), [body.payment_id])
  await endLeases(service)
  await payMandates(app)
})

t.test("one payment's slow bank does not delay others, and the job ends when it has answered", async (t) => {
  const { consentId } = await authorisedMandate(service, merchant)
  await provesNoneWaits(t, {
    bank,
    call: 'stageUnderMandate',
    job: (signal) => payMandates(app, signal),
    begin: async () => (await payUnder(service, merchant, { consentId })).body.payment_id,
    isDone: async (id) => (await stateOf(service, id)).payment === 'Authorised',
  })
})
