import t from 'tap'
import { openDebtorAccount } from '../../src/consents/debtor-account.ts'
import { settlePayments } from '../../src/payments/settle-payments.ts'
import { authorisedPayment, testService, until, untilStatus } from '../support/app.ts'
import { bookingsOf, eventsOf, movesOf, stateOf, times, webhooksOf, webhookTypesOf } from '../support/payments.ts'
import { provesNoneWaits } from '../support/slow-bank.ts'
import { noAnswer, steeredBank } from '../support/steered-bank.ts'

const bank = steeredBank()
const service = await testService(t, { overrides: { bank: bank.connector } })
bank.behind(service.app.mockBank)
const merchant = await service.merchant()

/** Lets the claims on executions and the waits for a silent bank expire. */
async function passLeases(): Promise<void> {
  await service.owner.query(
    `update payment_intents set locked_until = null, settle_at = now() where status = 'Authorised'`,
  )
}

t.test('an authorised payment is executed at the bank and Settled by the job', async (t) => {
  const { id } = await authorisedPayment(service, merchant)
  t.same(await settlePayments(service.app), { more: false })
  t.same(await stateOf(service, id), { payment: 'Settled', consent: 'AUTHORISED', failure: null })
  t.same(await bookingsOf(service, id), { debits: ['50.0000'], credits: [] }, 'the gross amount has moved')
  const event = (await eventsOf(service, id)).at(-1)
  t.same(
    { ...event, raw_payload: JSON.parse(event?.raw_payload ?? '') },
    {
      previous_status: 'Authorised',
      new_status: 'Settled',
      changed_by: 'BATCH_JOB',
      raw_payload: { job: 'settle-payments', reason: 'the bank executed the payment' },
    },
  )
  t.same(await webhookTypesOf(service, id), ['payment.initiated', 'payment.authorized', 'payment.settled'])
})

t.test("an execution that the bank rejects fails the payment with the bank's code, and no money moves", async (t) => {
  const refusals = {
    'insufficient-funds': 'INSUFFICIENT_FUNDS',
    'fraud-stop': 'FRAUD_SUSPECTED',
    'authorised-then-rejected': 'BANK_ERROR',
    'settlement-fails': 'SETTLEMENT_FAILED',
  }
  for (const [scenario, code] of Object.entries(refusals)) {
    const { id } = await authorisedPayment(service, merchant, { scenario })
    await settlePayments(service.app)
    t.same(await stateOf(service, id), { payment: 'Failed', consent: 'AUTHORISED', failure: code }, scenario)
    t.same(await bookingsOf(service, id), { debits: [], credits: [] }, scenario)
    t.match(
      (await webhooksOf(service, id)).at(-1),
      { event_type: 'payment.failed', payload: { data: { previousStatus: 'AUTHORISED', failure: { code } } } },
      scenario,
    )
  }
})

t.test('a payment settles no sooner than its bank said', async (t) => {
  const { id } = await authorisedPayment(service, merchant, { scenario: 'success-slow-settle:90s' })
  await settlePayments(service.app)
  t.equal((await stateOf(service, id)).payment, 'Authorised')
  await service.owner.query(`update payment_intents set settle_at = settle_at - interval '90 seconds' where id = $1`, [
    id,
  ])
  await settlePayments(service.app)
  t.equal((await stateOf(service, id)).payment, 'Settled')
})

t.test('a payment that the bank has accepted and not settled is asked for until it is final', async (t) => {
  for (const [end, status] of [
    [undefined, 'Settled'],
    [async () => ({ outcome: 'rejected', failureCode: 'ACCOUNT_CLOSED' }), 'Failed'],
  ] as const) {
    const { id } = await authorisedPayment(service, merchant)
    bank.steer('execute', async () => ({ outcome: 'pending', askAgainInSeconds: 600 }))
    const before = bank.calls.execute
    await settlePayments(service.app)
    await settlePayments(service.app)
    t.equal(bank.calls.execute - before, 1, 'not before the bank may know more')
    t.same(await movesOf(service, id), ['AwaitingAuthorisation', 'Authorised'])
    const { rows } = await service.owner.query(
      `select round(extract(epoch from settle_at - now()))::int as seconds, locked_until from payment_intents where id = $1`,
      [id],
    )
    t.match(rows, [{ seconds: Number, locked_until: null }])
    t.ok(rows[0].seconds > 590 && rows[0].seconds <= 600, String(rows[0].seconds))
    bank.steer('execute', end)
    await passLeases()
    await settlePayments(service.app)
    bank.steer('execute', undefined)
    t.same(await movesOf(service, id), ['AwaitingAuthorisation', 'Authorised', status])
  }
})

t.test('the account that the bank names with the settlement is kept: a refund can go there', async (t) => {
  const { id } = await authorisedPayment(service, merchant)
  const debtorAccount = { scheme: 'UK.OBIE.IBAN', identification: 'GB29NWBK60161331926819' }
  bank.steer('execute', async (answer) => ({ ...((await answer()) as object), debtorAccount }))
  await settlePayments(service.app)
  bank.steer('execute', undefined)
  const { rows } = await service.owner.query(
    `select c.merchant_id, c.id as consent_id, c.debtor_account_scheme, c.debtor_identification
     from payment_consents c join payment_intents p on p.consent_id = c.id where p.id = $1`,
    [id],
  )
  t.same(openDebtorAccount(service.app, rows[0]), debtorAccount)
})

t.test('a silent bank is asked again until it answers', async (t) => {
  const { id } = await authorisedPayment(service, merchant)
  bank.steer('execute', noAnswer)
  const { rows: began } = await service.owner.query('select now() as at')
  await settlePayments(service.app)
  t.equal((await stateOf(service, id)).payment, 'Authorised')
  bank.steer('execute', undefined)
  // Two seconds later, which may pass on a busy machine before the job runs once more.
  const { rowCount } = await service.owner.query(
    `update payment_intents set settle_at = settle_at + interval '1 hour' where id = $1 and settle_at >= $2::timestamptz + interval '2 seconds'`,
    [id, began[0].at],
  )
  t.equal(rowCount, 1)
  await settlePayments(service.app)
  t.equal((await stateOf(service, id)).payment, 'Authorised', 'not before a moment has passed')
  await passLeases()
  await settlePayments(service.app)
  t.same(await movesOf(service, id), ['AwaitingAuthorisation', 'Authorised', 'Settled'])
})

t.test('a bank that moved the money but whose answer was lost moves it once', async (t) => {
  const { id } = await authorisedPayment(service, merchant)
  bank.steer('execute', async (answer) => {
    await answer()
    return noAnswer()
  })
  await settlePayments(service.app)
  bank.steer('execute', undefined)
  t.same(await bookingsOf(service, id), { debits: ['50.0000'], credits: [] })
  t.equal((await stateOf(service, id)).payment, 'Authorised')
  await passLeases()
  await settlePayments(service.app)
  t.same(await bookingsOf(service, id), { debits: ['50.0000'], credits: [] })
  t.same(await movesOf(service, id), ['AwaitingAuthorisation', 'Authorised', 'Settled'])
})

t.test('concurrent workers execute a payment once', async (t) => {
  const payments = await times(30, () => authorisedPayment(service, merchant))
  const before = bank.calls.execute
  await times(6, () => settlePayments(service.app))
  t.equal(bank.calls.execute - before, 30, 'the bank is asked once for each')
  for (const { id } of payments) {
    t.same(await movesOf(service, id), ['AwaitingAuthorisation', 'Authorised', 'Settled'])
    t.same((await bookingsOf(service, id)).debits, ['50.0000'])
  }
})

t.test('a worker that outlives its claim changes nothing', async (t) => {
  const { id } = await authorisedPayment(service, merchant)
  bank.steer('execute', async (answer) => {
    bank.steer('execute', undefined)
    await passLeases()
    await settlePayments(service.app)
    return answer()
  })
  await settlePayments(service.app)
  t.same(await movesOf(service, id), ['AwaitingAuthorisation', 'Authorised', 'Settled'])
  t.same(await webhookTypesOf(service, id), ['payment.initiated', 'payment.authorized', 'payment.settled'])
  t.same((await bookingsOf(service, id)).debits, ['50.0000'])
})

t.test('an error in one execution does not affect others and is tried again', async (t) => {
  const [poison, good] = [await authorisedPayment(service, merchant), await authorisedPayment(service, merchant)]
  let failed = false
  bank.steer('execute', async (answer) => {
    if (failed) return answer()
    failed = true
    throw new Error('a defect of the connector')
  })
  await settlePayments(service.app)
  bank.steer('execute', undefined)
  const states = [(await stateOf(service, poison.id)).payment, (await stateOf(service, good.id)).payment]
  t.same(states.toSorted(), ['Authorised', 'Settled'])
  await passLeases()
  await settlePayments(service.app)
  for (const { id } of [poison, good]) t.equal((await stateOf(service, id)).payment, 'Settled')
})

t.test("one payment's slow bank does not delay others, and the job ends when it has answered", async (t) => {
  await provesNoneWaits(t, {
    bank,
    call: 'execute',
    job: (signal) => settlePayments(service.app, signal),
    begin: async () => (await authorisedPayment(service, merchant)).id,
    isDone: async (id) => (await stateOf(service, id)).payment === 'Settled',
  })
})

t.test('a bank that hangs does not take the slots of other banks, however many payments wait for it', async (t) => {
  const hanging = steeredBank('remote', 'file', 'hanging-bank')
  const other = await testService(t, {
    overrides: { configuredBanks: [{ connector: hanging.connector, name: 'Hanging' }] },
  })
  hanging.behind(other.app.mockBank)
  const shop = await other.merchant()
  // More than all slots of the job (settle-payments.ts).
  for (let round = 0; round < 15; round += 1)
    await times(10, () => authorisedPayment(other, shop, { debtor_bank_id: 'hanging-bank' }))
  const held = Promise.withResolvers<void>()
  hanging.steer('execute', async (answer) => {
    await held.promise
    return answer()
  })
  const stop = new AbortController()
  for (let round = 0; round < 5; round += 1) await settlePayments(other.app, stop.signal)
  t.equal(hanging.calls.execute, 64, 'half of the slots')
  const { id } = await authorisedPayment(other, shop)
  await until(async () => {
    await settlePayments(other.app, stop.signal)
    return (await stateOf(other, id)).payment === 'Settled'
  })
  t.equal(hanging.calls.execute, 64, 'it is settled before 86 that are overdue for longer')

  hanging.steer('execute', undefined)
  held.resolve()
  while ((await settlePayments(other.app, stop.signal)).more) continue
  const { rows } = await other.owner.query(
    'select status::text as status, count(*)::int as count from payment_intents group by 1',
  )
  t.same(rows, [{ status: 'Settled', count: 151 }], 'and a bank that answers again gets to all of its own')
  stop.abort()
  await settlePayments(other.app, stop.signal)
})

t.test('the worker settles by itself, woken by the authorisation', async (t) => {
  const running = await testService(t, { worker: true })
  const own = await running.merchant()
  const { id } = await authorisedPayment(running, own)
  await untilStatus(running, own, id, 'Settled')
  t.same((await bookingsOf(running, id)).debits, ['50.0000'])
})
