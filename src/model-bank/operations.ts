import { confirmFunds, createConsent, createPayment, showConsentById, showPaymentById } from './domestic-payments.ts'
import { showPaymentDetails } from './payment-details.ts'
import type { ResourceAnswer, ResourceRequest, ResourceToken } from './resource.ts'
import {
  confirmVrpFunds,
  createVrp,
  createVrpConsent,
  revokeVrpConsent,
  showVrp,
  showVrpConsent,
} from './variable-payments.ts'

/** What the bank can be asked for below a version's base path. */
export type Operation = {
  name: string
  method: 'GET' | 'POST' | 'DELETE'
  /** The one group is the resource's id. */
  path: RegExp
  token: ResourceToken['kind']
  /** Takes an idempotency key: the same key with the same body gets the same answer for a day. */
  isIdempotent: boolean
  answer(request: ResourceRequest): ResourceAnswer
}

function operation(
  name: string,
  route: `${Operation['method']} ${string}`,
  [token, answer]: [Operation['token'], Operation['answer']],
  isIdempotent = route.startsWith('POST'),
): Operation {
  const [method = 'GET', path = ''] = route.split(' ')
  return {
    name,
    method: method === 'POST' ? 'POST' : method === 'DELETE' ? 'DELETE' : 'GET',
    path: new RegExp(`^${path.replace(':id', '([A-Za-z0-9-]{1,128})')}$`),
    token,
    isIdempotent,
    answer,
  }
}

export const OPERATIONS: readonly Operation[] = [
  operation('createConsent', 'POST /domestic-payment-consents', ['client', createConsent]),
  operation('showConsent', 'GET /domestic-payment-consents/:id', ['client', showConsentById]),
  operation('confirmFunds', 'GET /domestic-payment-consents/:id/funds-confirmation', ['payer', confirmFunds]),
  operation('createPayment', 'POST /domestic-payments', ['payer', createPayment]),
  operation('showPayment', 'GET /domestic-payments/:id', ['client', showPaymentById]),
  operation('showPaymentDetails', 'GET /domestic-payments/:id/payment-details', ['client', showPaymentDetails]),
  operation('createVrpConsent', 'POST /domestic-vrp-consents', ['client', createVrpConsent]),
  operation('showVrpConsent', 'GET /domestic-vrp-consents/:id', ['client', showVrpConsent]),
  operation('revokeVrpConsent', 'DELETE /domestic-vrp-consents/:id', ['client', revokeVrpConsent]),
  // Asking for funds changes nothing, so it takes no idempotency key.
  operation('confirmVrpFunds', 'POST /domestic-vrp-consents/:id/funds-confirmation', ['payer', confirmVrpFunds], false),
  operation('createVrp', 'POST /domestic-vrps', ['payer', createVrp]),
  operation('showVrp', 'GET /domestic-vrps/:id', ['client', showVrp]),
  operation('showVrpDetails', 'GET /domestic-vrps/:id/payment-details', ['client', showPaymentDetails]),
]
