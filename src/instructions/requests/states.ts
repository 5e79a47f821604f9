import type { Transition } from '../../lib/machine.ts'
import type { PaymentRequestStatus } from '../../wire/payment-requests.ts'

export type PaymentRequestTrigger =
  | 'sending'
  | 'acceptance'
  | 'rejection'
  | 'expiry'
  | 'payment'
  | 'payment rejected'
  | 'withdrawal'
export type PaymentRequestTransition = Transition<PaymentRequestStatus, PaymentRequestTrigger>

/** The transitions of a request to pay, and of an offer to pay with the sides swapped (decisions 5 and 6). */
export const PAYMENT_REQUEST_TRANSITIONS = [
  { from: null, on: 'sending', to: 'Sent' },
  { from: 'Sent', on: 'acceptance', to: 'Accepted' },
  { from: 'Sent', on: 'rejection', to: 'Rejected' },
  { from: 'Sent', on: 'withdrawal', to: 'Rejected' },
  { from: 'Sent', on: 'expiry', to: 'Rejected' },
  { from: 'Accepted', on: 'payment', to: 'Paid' },
  { from: 'Accepted', on: 'payment rejected', to: 'Rejected' },
  { from: 'Accepted', on: 'withdrawal', to: 'Rejected' },
] as const satisfies readonly PaymentRequestTransition[]
