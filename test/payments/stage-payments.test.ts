import { randomUUID } from 'node:crypto'
import t from 'tap'
import { expireConsents } from '../../src/payments/expire-consents.ts'
import { stagePayments } from '../../src/payments/stage-payments.ts'
import { atBank, createPayment, testService } from '../support/app.ts'
import type { Answer, TestMerchant } from '../support/app.ts'
import {
  completeSca,
  endConsent,
  eventsOf,
  movesOf,
  stateOf,
  tally,
  times,
  webhooksOf,
  webhookTypesOf,
} from '../support/payments.ts'
import { noAnswer, steeredBank } from '../support/steered-bank.ts'

const bank = steeredBank('remote')
const service = await testService(t, { overrides: { bank: bank.connector } })
bank.behind(service.app.mockBank)
const merchant = await service.merchant()

/** Makes every payment old enough for the job. */
async function passTime(): Promise<void> {
  await service.owner.query(
    `update payment_intents set created_at = created_at - interval '31 seconds' where status = 'Initiated'`,
  )
}

async function onlyPayment(merchantId: string): Promise<string> {
  const { rows } = await service.owner.query<{ id: string }>('select id from payment_intents where merchant_id = $1', [
    merchantId,
  ])
  if (rows.length !== 1 || rows[0] === undefined) throw new Error(`${rows.length} payments`)
  return rows[0].id
}

t.test(
  'a remote bank is asked between the creation of the payment and its move to AwaitingAuthorisation',
  async (t) => {
    let seen: unknown
    bank.steer('stage', async (answer) => {
      const { rows } = await service.owner.query('select status::text as status, redirect_url from payment_intents')
      seen = rows
      return answer()
    })
    const { status, body } = await createPayment(service, merchant)
    bank.steer('stage', undefined)
    t.same(seen, [{ status: 'Initiated', redirect_url: null }], 'recorded before the bank was asked')
    t.match({ status, body }, { status: 201, body: { status: 'AwaitingAuthorisation', redirect_url: /redirect-stub/ } })
    const events = await eventsOf(service, body.payment_id)
    t.same(
      events.map(({ previous_status, new_status, changed_by }) => [previous_status, new_status, changed_by]),
      [
        [null, 'Initiated', 'MERCHANT_API'],
        ['Initiated', 'AwaitingAuthorisation', 'MERCHANT_API'],
      ],
    )
    t.equal(events[1]?.raw_payload, events[0]?.raw_payload, "both are the request's doing")
    t.match(await webhooksOf(service, body.payment_id), [
      {
        event_type: 'payment.initiated',
        sequence: 1,
        payload: { data: { status: 'AWAITING_AUTHORISATION', previousStatus: 'INITIATED' } },
      },
    ])
    const { rows } = await service.owner.query('select bank_consent_reference from payment_consents where id = $1', [
      body.consent_id,
    ])
    t.match(rows, [{ bank_consent_reference: /^mock-/ }])
  },
)

t.test('a remotely staged payment settles, and the bank gets all details', async (t) => {
  const payer = { debtor_account_scheme: 'UK.OBIE.IBAN', debtor_identification: 'GB33BUKB20201555555555' }
  const { body } = await createPayment(service, merchant, { ...payer, remittance_reference: 'Order 7' })
  t.match(service.app.mockBank.readRequest(new URL(body.redirect_url).searchParams.get('request') ?? ''), {
    payeeId: merchant.id,
    debtorAccount: { scheme: 'UK.OBIE.IBAN', identification: 'GB33BUKB20201555555555' },
    remittanceReference: 'Order 7',
  })
  t.match(await completeSca(service, body.payment_id, await atBank(body.redirect_url, 'approve')), {
    status: 200,
    body: { status: 'Authorised' },
  })
  t.same(await webhookTypesOf(service, body.payment_id), ['payment.initiated', 'payment.authorized'])
})

t.test('50 concurrent repeats create one payment that is initiated once, all with the same URL', async (t) => {
  for (let round = 0; round < 3; round += 1) {
    const own = await service.merchant()
    const key = randomUUID()
    const answers = await times(50, () => createPayment(service, own, {}, key))
    t.same(tally(answers.map(({ status }) => status)), { '200': 49, '201': 1 })
    t.equal(new Set(answers.map(({ text }) => text)).size, 1)
    const id = await onlyPayment(own.id)
    t.same(await movesOf(service, id), ['Initiated', 'AwaitingAuthorisation'])
    t.same(await webhookTypesOf(service, id), ['payment.initiated'])
  }
})

t.test('a bank that is down leaves the payment Initiated, and the repeat stages it', async (t) => {
  const own = await service.merchant()
  const key = randomUUID()
  bank.steer('stage', noAnswer)
  t.match(await createPayment(service, own, {}, key), {
    status: 502,
    body: { code: 'BANK_UNAVAILABLE', next: /same X-Idempotency-Key/ },
  })
  t.match(await createPayment(service, own, {}, key), { status: 502 }, 'still down')
  const id = await onlyPayment(own.id)
  t.same(await stateOf(service, id), { payment: 'Initiated', consent: 'AWAITING_AUTHORISATION', failure: null })
  t.same(await webhookTypesOf(service, id), [], 'nothing is announced before the bank knows')
  t.match(await createPayment(service, own, { amount: '51.00' }, key), { status: 422 })
  bank.steer('stage', undefined)
  const repeat = await createPayment(service, own, {}, key)
  t.match(repeat, {
    status: 200,
    body: { payment_id: id, status: 'AwaitingAuthorisation', redirect_url: /redirect-stub/ },
  })
  t.same(await webhookTypesOf(service, id), ['payment.initiated'])
})

t.test("the job stages a payment that its request left unstaged, after the request's time is over", async (t) => {
  const own = await service.merchant()
  bank.steer('stage', noAnswer)
  await createPayment(service, own)
  const id = await onlyPayment(own.id)
  bank.steer('stage', undefined)
  await stagePayments(service.app)
  t.equal((await stateOf(service, id)).payment, 'Initiated')
  await passTime()
  await times(3, () => stagePayments(service.app))
  t.match(await eventsOf(service, id), [
    {},
    { new_status: 'AwaitingAuthorisation', changed_by: 'BATCH_JOB', raw_payload: /"job":"stage-payments"/ },
  ])
  t.same(await movesOf(service, id), ['Initiated', 'AwaitingAuthorisation'])
  t.same(await webhookTypesOf(service, id), ['payment.initiated'])
})

t.test('a bank that staged but whose answer was lost is asked again for the same consent', async (t) => {
  const own = await service.merchant()
  bank.steer('stage', async (answer) => {
    await answer()
    return noAnswer()
  })
  await createPayment(service, own)
  bank.steer('stage', undefined)
  const id = await onlyPayment(own.id)
  await passTime()
  t.same(await stagePayments(service.app), { more: false })
  t.equal((await stateOf(service, id)).payment, 'AwaitingAuthorisation')
})

t.test('a bank that stays down does not block other payments, and its payment expires', async (t) => {
  const own = await service.merchant()
  bank.steer('stage', noAnswer)
  const key = randomUUID()
  await createPayment(service, own, {}, key)
  const id = await onlyPayment(own.id)
  await passTime()
  t.same(await stagePayments(service.app), { more: false })
  await endConsent(service, id)
  await expireConsents(service.app)
  bank.steer('stage', undefined)
  await stagePayments(service.app)
  t.same(await stateOf(service, id), { payment: 'Failed', consent: 'EXPIRED', failure: 'CONSENT_EXPIRED' })
  t.same(await webhookTypesOf(service, id), ['payment.failed'])
  t.match(
    await createPayment(service, own, {}, key),
    { status: 200, body: { status: 'Failed', redirect_url: null } },
    'a repeat is told how it ended',
  )
})

function cancel(id: string, merchant: TestMerchant): Promise<Answer> {
  return service.call('POST', `/api/v1/payments/${id}/cancel`, { merchant })
}

t.test('a payment that its bank has not staged can be cancelled, and is staged no more', async (t) => {
  const own = await service.merchant()
  const key = randomUUID()
  bank.steer('stage', noAnswer)
  await createPayment(service, own, {}, key)
  bank.steer('stage', undefined)
  const id = await onlyPayment(own.id)
  t.match(await cancel(id, await service.merchant()), { status: 404, body: { code: 'PAYMENT_NOT_FOUND' } })
  t.equal((await stateOf(service, id)).payment, 'Initiated')
  t.match(await cancel(id, own), {
    status: 200,
    body: { status: 'Failed', failure: { code: 'CANCELLED_BY_MERCHANT', source: 'MERCHANT' } },
  })
  t.match(await cancel(id, own), { status: 200 }, 'again')
  const before = bank.calls.stage
  await service.owner.query(`update payment_intents set created_at = created_at - interval '31 s' where id = $1`, [id])
  await stagePayments(service.app)
  t.match(await createPayment(service, own, {}, key), { status: 200, body: { status: 'Failed', redirect_url: null } })
  t.equal(bank.calls.stage, before, 'the bank hears no more of it')
  t.same(await stateOf(service, id), { payment: 'Failed', consent: 'REJECTED', failure: 'CANCELLED_BY_MERCHANT' })
  t.same(await movesOf(service, id), ['Initiated', 'Failed'])
  t.same(await webhookTypesOf(service, id), ['payment.failed'])
})

t.test('a staging that is answered after the cancellation changes nothing', async (t) => {
  const own = await service.merchant()
  bank.steer('stage', async (answer) => {
    t.match(await cancel(await onlyPayment(own.id), own), { status: 200 })
    return answer()
  })
  const created = await createPayment(service, own)
  bank.steer('stage', undefined)
  t.match(created, { status: 201, body: { status: 'Failed', redirect_url: null } }, 'nobody gets the address')
  const id = created.body.payment_id
  t.same(await stateOf(service, id), { payment: 'Failed', consent: 'REJECTED', failure: 'CANCELLED_BY_MERCHANT' })
  t.same(await movesOf(service, id), ['Initiated', 'Failed'])
})

t.test('a cancellation beside the staging always succeeds, once', async (t) => {
  for (let round = 0; round < 10; round += 1) {
    const own = await service.merchant()
    const key = randomUUID()
    bank.steer('stage', noAnswer)
    await createPayment(service, own, {}, key)
    bank.steer('stage', undefined)
    const id = await onlyPayment(own.id)
    const [repeat, ...cancelled] = await Promise.all([
      createPayment(service, own, {}, key),
      ...[1, 2, 3].map(() => cancel(id, own)),
    ])
    t.equal(repeat.status, 200)
    t.same(tally(cancelled.map(({ status, body }) => `${status} ${body.status}`)), { '200 Failed': 3 })
    const wasStaged = (await webhookTypesOf(service, id)).includes('payment.initiated')
    t.same(await movesOf(service, id), ['Initiated', ...(wasStaged ? ['AwaitingAuthorisation'] : []), 'Failed'])
    t.equal((await stateOf(service, id)).consent, 'REJECTED')
  }
})

t.test("an unstaged payment can't be cancelled after its consent's end: it has expired", async (t) => {
  const own = await service.merchant()
  bank.steer('stage', noAnswer)
  await createPayment(service, own)
  bank.steer('stage', undefined)
  const id = await onlyPayment(own.id)
  await endConsent(service, id)
  t.match(await cancel(id, own), { status: 409, body: { code: 'PAYMENT_NOT_CANCELLABLE' } })
  t.same(await stateOf(service, id), { payment: 'Failed', consent: 'EXPIRED', failure: 'CONSENT_EXPIRED' })
})

t.test('a consent that ends while the bank is asked is not staged', async (t) => {
  const own = await service.merchant()
  bank.steer('stage', async (answer) => {
    await endConsent(service, await onlyPayment(own.id))
    return answer()
  })
  const answer = await createPayment(service, own)
  bank.steer('stage', undefined)
  t.match(answer, { status: 201, body: { redirect_url: null } })
  await expireConsents(service.app)
  t.same(await movesOf(service, await onlyPayment(own.id)), ['Initiated', 'Failed'])
})
