import { confirmFunds, createConsent, createPayment, showConsentById, showPaymentById } from './domestic-payments.ts'
import type { ResourceAnswer, ResourceRequest, ResourceToken } from './resource.ts'

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
]
