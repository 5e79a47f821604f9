import t from 'tap'
import type { Exchange } from '../../src/model-bank/answer-resource.ts'
import { complaintsAbout } from '../support/openapi-check.ts'
import { paymentConsent } from './client.ts'

const order = paymentConsent()
const AT = '2026-11-23T10:00:00.000Z'
const DATA = { ConsentId: 'pdc-1', CreationDateTime: AT, StatusUpdateDateTime: AT, Status: 'AWAU', ...order.Data }
const EXCHANGE: Exchange = {
  version: '4.0',
  method: 'POST',
  path: '/domestic-payment-consents',
  headers: {},
  requestBody: JSON.stringify(order),
  status: 201,
  answerHeaders: {},
  answerBody: JSON.stringify({ Data: DATA, Risk: order.Risk }),
}

t.test('the official description judges requests and answers', async (t) => {
  t.same(complaintsAbout(EXCHANGE), [])
  const noCreditor = paymentConsent({ CreditorAccount: undefined })
  t.match(complaintsAbout({ ...EXCHANGE, requestBody: JSON.stringify(noCreditor) }), [/CreditorAccount/])
  const wrongStatus = { Data: { ...DATA, Status: 'AwaitingAuthorisation' }, Risk: order.Risk }
  t.match(complaintsAbout({ ...EXCHANGE, answerBody: JSON.stringify(wrongStatus) }), [/Status must be equal to one of/])
  t.match(complaintsAbout({ ...EXCHANGE, status: 202 }), [/this status is not described/])
  t.match(complaintsAbout({ ...EXCHANGE, path: '/domestic-payment-wishes' }), [/not described/])
})

t.test('each version is judged by its own description', async (t) => {
  t.match(complaintsAbout({ ...EXCHANGE, version: '3.1' }), [/./])
})
