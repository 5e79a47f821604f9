import { createHmac } from 'node:crypto'
import t from 'tap'
import { CALLBACK_SIGNATURE_HEADER, callbackBytes } from '../../src/banks/mock-callback.ts'
import type { BankCallback } from '../../src/banks/connector.ts'
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
import { mockBankSecret } from '../support/bank-secret.ts'

const service = await testService(t)
const merchant = await service.merchant()
const secret = mockBankSecret(service.app.config.encryptionKey)

const AUTHORISED = { outcome: 'authorised', bankReference: 'MB1', settleInSeconds: 0 } as const

async function created(
  changes: Record<string, unknown> = {},
): Promise<{ id: string; state: string; redirectUrl: string }> {
  const { body } = await createPayment(service, merchant, changes)
  return {
    id: body.payment_id,
    state: new URL(body.redirect_url).searchParams.get('state') ?? '',
    redirectUrl: body.redirect_url,
  }
}

function send(
  bytes: Buffer,
  { signature, connector = 'mock' }: { signature?: string | undefined; connector?: string } = {},
): Promise<Answer> {
  return service.call('POST', `/api/v1/bank/callbacks/${connector}`, {
    raw: bytes,
    headers: {
      'content-type': 'application/json',
      ...(signature === undefined ? {} : { [CALLBACK_SIGNATURE_HEADER]: signature }),
    },
  })
}

function sign(bytes: Buffer, key = secret): string {
  return createHmac('sha256', key).update(bytes).digest('hex')
}

function report(callback: BankCallback): Promise<Answer> {
  const bytes = callbackBytes(callback)
  return send(bytes, { signature: sign(bytes) })
}

t.test("the bank's own report authorises the payment, with its body in the audit event", async (t) => {
  const { id, state } = await created()
  t.match(await report({ state, result: AUTHORISED }), { status: 200, body: { status: 'accepted' } })
  t.same(await stateOf(service, id), { payment: 'Authorised', consent: 'AUTHORISED', failure: null })
  const [, event] = await eventsOf(service, id)
  t.match(event, { changed_by: 'BANK_CALLBACK', raw_payload: /"state":"\[redacted\]"/ })
  t.notMatch(event?.raw_payload, state)
})

t.test("the bank's own report of a rejection fails the payment with its code", async (t) => {
  const { id, state } = await created()
  t.match(await report({ state, result: { outcome: 'rejected', failureCode: 'FRAUD_SUSPECTED' } }), {
    status: 200,
    body: { status: 'accepted' },
  })
  t.same(await stateOf(service, id), { payment: 'Failed', consent: 'REJECTED', failure: 'FRAUD_SUSPECTED' })
})

t.test("a report without the bank's signature is rejected and changes nothing", async (t) => {
  const { id, state } = await created()
  const bytes = callbackBytes({ state, result: AUTHORISED })
  const forged = [
    undefined,
    '',
    'x',
    sign(bytes, 'another key'),
    sign(bytes).toUpperCase(),
    sign(Buffer.concat([bytes, Buffer.from(' ')])),
    sign(bytes).slice(0, -1),
  ]
  for (const signature of forged) {
    t.match(await send(bytes, { signature }), { status: 401, body: { code: 'UNAUTHENTICATED' } })
  }
  const strange = Buffer.from(JSON.stringify({ state, outcome: 'settled' }))
  t.match(await send(strange, { signature: sign(strange) }), { status: 401 }, 'a body that the bank would not write')
  t.match(await send(bytes, { signature: sign(bytes), connector: 'unknown' }), {
    status: 404,
    body: { code: 'CONNECTOR_NOT_FOUND' },
  })
  t.same(await stateOf(service, id), {
    payment: 'AwaitingAuthorisation',
    consent: 'AWAITING_AUTHORISATION',
    failure: null,
  })
})

t.test('a report on an unknown payment returns 404', async (t) => {
  t.match(await report({ state: 'unknown', result: AUTHORISED }), { status: 404, body: { code: 'PAYMENT_NOT_FOUND' } })
})

t.test('20 equal concurrent reports move the payment once', async (t) => {
  const { id, state } = await created()
  const answers = await times(20, () => report({ state, result: AUTHORISED }))
  t.same(tally(answers.map(({ status, body }) => `${status} ${body.status}`)), {
    '200 accepted': 1,
    '200 already_known': 19,
  })
  t.same(await movesOf(service, id), ['AwaitingAuthorisation', 'Authorised'])
  t.same(await webhookTypesOf(service, id), ['payment.initiated', 'payment.authorized'])
})

t.test('a report that contradicts an earlier one changes nothing', async (t) => {
  const { id, state } = await created()
  await report({ state, result: AUTHORISED })
  t.match(await report({ state, result: { outcome: 'rejected', failureCode: 'BANK_ERROR' } }), {
    status: 200,
    body: { status: 'already_known' },
  })
  t.same(await movesOf(service, id), ['AwaitingAuthorisation', 'Authorised'])
})

t.test("a report after the consent's end authorises nothing and expires the payment", async (t) => {
  const { id, state } = await created()
  await endConsent(service, id)
  t.match(await report({ state, result: AUTHORISED }), { status: 200, body: { status: 'already_known' } })
  t.match(await stateOf(service, id), { payment: 'Failed', consent: 'EXPIRED' })
})

t.test('a bank can report on its own payments only', async (t) => {
  const { id, state } = await created()
  await service.owner.query(`update payment_intents set bank_connector = 'another' where id = $1`, [id])
  t.match(await report({ state, result: AUTHORISED }), { status: 404, body: { code: 'PAYMENT_NOT_FOUND' } })
  t.match(await stateOf(service, id), { payment: 'AwaitingAuthorisation' })
})

t.test('a bank that reports before it sends the payer back, or twice, authorises once', async (t) => {
  for (const scenario of ['callback-before-redirect', 'duplicate-callback']) {
    const { id, redirectUrl } = await created({ scenario })
    const back = await atBank(redirectUrl, 'approve')
    t.equal((await stateOf(service, id)).payment, 'Authorised', `${scenario}: before the payer is back`)
    t.match(await completeSca(service, id, back), { status: 200, body: { status: 'Authorised' } }, scenario)
    t.same(await movesOf(service, id), ['AwaitingAuthorisation', 'Authorised'], scenario)
    t.same(await webhookTypesOf(service, id), ['payment.initiated', 'payment.authorized'], scenario)
  }
})

t.test('a bank that reports a cancellation before it sends the payer back fails the payment once', async (t) => {
  const { id, redirectUrl } = await created({ scenario: 'callback-before-redirect' })
  const back = await atBank(redirectUrl, 'cancel')
  t.match(await completeSca(service, id, back), {
    status: 200,
    body: { status: 'Failed', failure: { code: 'ACCESS_DENIED' } },
  })
  t.same(await movesOf(service, id), ['AwaitingAuthorisation', 'Failed'])
})
