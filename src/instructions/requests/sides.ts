import type { PaymentRequestKind } from './record.ts'

/** What the two kinds call their sides and their fields (contract §RequestToPay and OfferToPay). */
type Sides = {
  /** In a sentence. */
  noun: string
  path: string
  /** Who decides on it. */
  decider: 'payer' | 'payee'
  identifierField: string
  amountField: string
  /** Of its mail, and of its command (`svc ob …`). */
  name: string
}

/** One machine with the sides swapped (decision 6): all that differs in words stands here. */
export const SIDES: Readonly<Record<PaymentRequestKind, Sides>> = {
  RequestToPay: {
    noun: 'request to pay',
    path: '/open-banking/v1/request-to-pay',
    decider: 'payer',
    identifierField: 'PayerIdentifier',
    amountField: 'AmountRequested',
    name: 'request-to-pay',
  },
  OfferToPay: {
    noun: 'offer to pay',
    path: '/open-banking/v1/offer-to-pay',
    decider: 'payee',
    identifierField: 'PayeeIdentifier',
    amountField: 'AmountOffered',
    name: 'offer-to-pay',
  },
}
