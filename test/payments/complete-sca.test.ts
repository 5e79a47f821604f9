import { randomUUID } from 'node:crypto'
import t from 'tap'
import { openDebtorAccount } from '../../src/consents/debtor-account.ts'
import { atBank, createPayment, testService } from '../support/app.ts'
import type { Answer } from '../support/app.ts'
import {
  completeSca,
  endConsent,
  eventsOf,
  movesOf,
  stateOf,
  tally,
  times,
  webhookTypesOf,
} from '../support/payments.ts'
import { noAnswer, steeredBank } from '../support/steered-bank.ts'

const bank = steeredBank()
const service = await testService(t, { overrides: { bank: bank.connector } })
bank.behind(service.app.mockBank)
const merchant = await service.merchant()

async function created(
  changes: Record<string, unknown> = {},
): Promise<{ id: string; state: string; redirectUrl: string }> {
  const { body } = await createPayment(service, merchant, changes)
  const state = new URL(body.redirect_url).searchParams.get('state') ?? ''
  return { id: body.payment_id, state, redirectUrl: body.redirect_url }
}

const UNTOUCHED = { payment: 'AwaitingAuthorisation', consent: 'AWAITING_AUTHORISATION', failure: null }

t.test("a payer who approves authorises the payment, and the audit event keeps the browser's request", async (t) => {
  const { id, redirectUrl } = await created()
  const back = await atBank(redirectUrl, 'approve')
  const answer = await completeSca(service, id, back)
  t.equal(answer.status, 200)
  t.match(answer.body, { payment_id: id, status: 'Authorised', failure: null })
  t.strictSame(Object.keys(answer.body), ['payment_id', 'status', 'end_to_end_id', 'failure'])
  t.same(await stateOf(service, id), { payment: 'Authorised', consent: 'AUTHORISED', failure: null })
  const [, event] = await eventsOf(service, id)
  t.same(event, {
    previous_status: 'AwaitingAuthorisation',
    new_status: 'Authorised',
    changed_by: 'BANK_CALLBACK',
    raw_payload: JSON.stringify({ ...back, state: '[redacted]', code: '[redacted]' }),
  })
  t.same(await webhookTypesOf(service, id), ['payment.initiated', 'payment.authorized'])
})

t.test('a payer who cancels at the bank fails the payment with ACCESS_DENIED', async (t) => {
  const { id, redirectUrl } = await created()
  const answer = await completeSca(service, id, await atBank(redirectUrl, 'cancel'))
  t.match(answer, {
    status: 200,
    body: { status: 'Failed', failure: { code: 'ACCESS_DENIED', source: 'ASPSP_REJECTION', iso_code: 'CUST' } },
  })
  t.same(await stateOf(service, id), { payment: 'Failed', consent: 'REJECTED', failure: 'ACCESS_DENIED' })
  t.same(await webhookTypesOf(service, id), ['payment.initiated', 'payment.failed'])
})

t.test(
  'an error in the browser of a payer who has not decided fails the payment, and the payer is its source',
  async (t) => {
    const failures = {
      access_denied: 'ACCESS_DENIED',
      server_error: 'BANK_ERROR',
      temporarily_unavailable: 'BANK_UNAVAILABLE',
      invalid_scope: 'AUTHORISATION_FAILED',
      login_required: 'AUTHORISATION_FAILED',
      constructor: 'AUTHORISATION_FAILED',
    }
    for (const [error, code] of Object.entries(failures)) {
      const { id, state } = await created()
      const answer = await completeSca(service, id, { state, error, error_description: "in the bank's words" })
      t.match(answer, { status: 200, body: { status: 'Failed', failure: { code, source: 'PAYER' } } }, error)
      t.same(await stateOf(service, id), { payment: 'Failed', consent: 'REJECTED', failure: code }, error)
    }
  },
)

t.test('an error in the browser ends nothing that the payer has authorised at the bank', async (t) => {
  for (const error of ['access_denied', 'server_error', 'anything']) {
    const { id, redirectUrl } = await created()
    const back = await atBank(redirectUrl, 'approve')
    const claimed = await completeSca(service, id, { state: back.state, error })
    t.match(claimed, { status: 200, body: { status: 'AwaitingAuthorisation', failure: null } }, error)
    t.same(await stateOf(service, id), UNTOUCHED)
    t.same(await movesOf(service, id), ['AwaitingAuthorisation'])
    t.equal((await completeSca(service, id, back)).body.status, 'Authorised', 'its code still works')
  }
})

t.test("where the bank has rejected the consent, the failure is the bank's, whatever the browser claims", async (t) => {
  for (const [scenario, decision, code] of [
    ['success', 'cancel', 'ACCESS_DENIED'],
    ['limit-exceeded', 'approve', 'LIMIT_EXCEEDED'],
  ] as const) {
    const { id, state, redirectUrl } = await created({ scenario })
    await atBank(redirectUrl, decision)
    const answer = await completeSca(service, id, { state, error: 'server_error' })
    t.match(answer, { status: 200, body: { status: 'Failed', failure: { code, source: 'ASPSP_REJECTION' } } }, scenario)
  }
})

t.test('a bank that does not answer leaves the payment as it is, whatever the browser claims', async (t) => {
  const { id, state } = await created()
  bank.steer('readConsent', noAnswer)
  t.match(await completeSca(service, id, { state, error: 'access_denied' }), {
    status: 502,
    headers: { 'retry-after': '5' },
    body: { code: 'BANK_UNAVAILABLE' },
  })
  bank.steer('readConsent', undefined)
  t.same(await stateOf(service, id), UNTOUCHED)
  t.equal((await completeSca(service, id, { state, error: 'access_denied' })).body.status, 'Failed')
})

t.test('the account that the bank names is kept, whatever account the merchant named', async (t) => {
  const named = { debtor_account_scheme: 'UK.OBIE.SortCodeAccountNumber', debtor_identification: '20000055779911' }
  for (const body of [
    {},
    named,
    { debtor_identification: named.debtor_identification },
    { debtor_account_scheme: named.debtor_account_scheme },
  ]) {
    const { id, redirectUrl } = await created(body)
    const back = await atBank(redirectUrl, 'approve')
    bank.steer('exchangeCode', async (answer) => ({
      ...((await answer()) as object),
      debtorAccount: { scheme: 'UK.OBIE.IBAN', identification: 'GB29NWBK60161331926819' },
    }))
    t.equal((await completeSca(service, id, back)).body.status, 'Authorised')
    bank.steer('exchangeCode', undefined)
    const { rows } = await service.owner.query(
      `select c.merchant_id, c.id as consent_id, c.debtor_account_scheme, c.debtor_identification
       from payment_consents c join payment_intents p on p.consent_id = c.id where p.id = $1`,
      [id],
    )
    t.same(openDebtorAccount(service.app, rows[0]), {
      scheme: 'UK.OBIE.IBAN',
      identification: 'GB29NWBK60161331926819',
    })
  }
})

t.test("the bank's answer to the code exchange decides, not that the browser has a code", async (t) => {
  for (const [scenario, code] of [
    ['sca-fails', 'AUTHORISATION_FAILED'],
    ['limit-exceeded', 'LIMIT_EXCEEDED'],
    ['account-blocked', 'ACCOUNT_BLOCKED'],
  ] as const) {
    const { id, redirectUrl } = await created({ scenario })
    const answer = await completeSca(service, id, await atBank(redirectUrl, 'approve'))
    t.match(answer, { status: 200, body: { status: 'Failed', failure: { code } } }, scenario)
  }
})

t.test('a code that the bank does not know is rejected and changes nothing', async (t) => {
  const { id, state, redirectUrl } = await created()
  t.match(
    await completeSca(service, id, { state, code: 'made-up' }),
    { status: 400, body: { code: 'CODE_INVALID' } },
    'before the payer decided',
  )
  const back = await atBank(redirectUrl, 'approve')
  t.match(
    await completeSca(service, id, { state, code: 'made-up' }),
    { status: 400, body: { code: 'CODE_INVALID' } },
    'after the payer approved',
  )
  const stranger = await created()
  const code = await atBank(stranger.redirectUrl, 'approve')
  t.match(
    await completeSca(service, id, { ...code, state }),
    { status: 400, body: { code: 'CODE_INVALID' } },
    "another payment's code",
  )
  t.same(await stateOf(service, id), UNTOUCHED)
  t.same(await movesOf(service, id), ['AwaitingAuthorisation'])
  t.equal((await completeSca(service, id, back)).body.status, 'Authorised', 'the right one still works')
})

t.test("a cancelled payment can't be approved afterwards", async (t) => {
  const { id, state, redirectUrl } = await created()
  await atBank(redirectUrl, 'cancel')
  t.match(await completeSca(service, id, { state, code: 'made-up' }), { status: 400, body: { code: 'CODE_INVALID' } })
  t.same(await stateOf(service, id), UNTOUCHED)
})

t.test("without the payment's own state the call is rejected", async (t) => {
  const { id, state, redirectUrl } = await created()
  const { code } = (await atBank(redirectUrl, 'approve')) as { code: string }
  const stranger = await created()
  for (const wrong of ['x', stranger.state, `${state}x`, state.slice(0, -1), state.toUpperCase()]) {
    t.match(await completeSca(service, id, { state: wrong, code }), { status: 403, body: { code: 'STATE_MISMATCH' } })
    t.match(await completeSca(service, id, { state: wrong, error: 'access_denied' }), {
      status: 403,
      body: { code: 'STATE_MISMATCH' },
    })
  }
  t.match(await completeSca(service, id, { code }), { status: 400 }, 'no state at all')
  t.match(await completeSca(service, id, { state }), { status: 400 }, 'neither code nor error')
  t.match(await completeSca(service, randomUUID(), { state, code }), {
    status: 404,
    body: { code: 'PAYMENT_NOT_FOUND' },
  })
  t.match(await completeSca(service, 'no-id', { state, code }), { status: 404, body: { code: 'PAYMENT_NOT_FOUND' } })
  t.same(await stateOf(service, id), UNTOUCHED)
})

t.test('repeating a finished call returns the payment and writes no second event', async (t) => {
  const { id, redirectUrl } = await created()
  const back = await atBank(redirectUrl, 'approve')
  const first = await completeSca(service, id, back)
  const repeat = await completeSca(service, id, back)
  t.same([repeat.status, repeat.text], [200, first.text])
  const late = await completeSca(service, id, { state: back.state, error: 'access_denied' })
  t.match(late, { status: 200, body: { status: 'Authorised' } }, 'a cancellation that comes too late undoes nothing')
  t.same(await movesOf(service, id), ['AwaitingAuthorisation', 'Authorised'])
  t.same(await webhookTypesOf(service, id), ['payment.initiated', 'payment.authorized'])
})

t.test("an ended consent can't be authorised: the payment fails with CONSENT_EXPIRED, once", async (t) => {
  const { id, redirectUrl } = await created()
  const back = await atBank(redirectUrl, 'approve')
  await endConsent(service, id)
  for (const body of [back, back, { state: back.state, error: 'access_denied' }]) {
    t.match(await completeSca(service, id, body), { status: 409, body: { code: 'CONSENT_EXPIRED' } })
  }
  t.same(await stateOf(service, id), { payment: 'Failed', consent: 'EXPIRED', failure: 'CONSENT_EXPIRED' })
  t.match(await eventsOf(service, id), [
    {},
    { new_status: 'Failed', changed_by: 'BATCH_JOB', raw_payload: /"job":"expire-consents"/ },
  ])
  t.same(await webhookTypesOf(service, id), ['payment.initiated', 'payment.failed'])
})

t.test('a consent that ends while the bank is asked is not authorised', async (t) => {
  const { id, redirectUrl } = await created()
  const back = await atBank(redirectUrl, 'approve')
  bank.steer('exchangeCode', async (answer) => {
    const result = await answer()
    await endConsent(service, id)
    return result
  })
  const answer = await completeSca(service, id, back)
  bank.steer('exchangeCode', undefined)
  t.match(answer, { status: 409, body: { code: 'CONSENT_EXPIRED' } })
  t.same(await movesOf(service, id), ['AwaitingAuthorisation', 'Failed'])
})

t.test('a bank that does not answer changes nothing, and the repeat succeeds', async (t) => {
  const { id, redirectUrl } = await created()
  const back = await atBank(redirectUrl, 'approve')
  bank.steer('exchangeCode', noAnswer)
  const silent = await completeSca(service, id, back)
  bank.steer('exchangeCode', undefined)
  t.match(silent, { status: 502, body: { code: 'BANK_UNAVAILABLE' }, headers: { 'retry-after': '5' } })
  t.same(await stateOf(service, id), UNTOUCHED)
  t.match(await completeSca(service, id, back), { status: 200, body: { status: 'Authorised' } })
})

t.test('50 identical concurrent calls authorise once, and all return the result', async (t) => {
  for (let round = 0; round < 3; round += 1) {
    const { id, redirectUrl } = await created()
    const back = await atBank(redirectUrl, 'approve')
    const answers: Answer[] = await times(50, () => completeSca(service, id, back))
    t.same(tally(answers.map(({ status, body }) => `${status} ${body.status}`)), { '200 Authorised': 50 })
    t.same(await movesOf(service, id), ['AwaitingAuthorisation', 'Authorised'])
    t.same(await webhookTypesOf(service, id), ['payment.initiated', 'payment.authorized'])
  }
})
