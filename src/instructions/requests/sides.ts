import type { PaymentRequestKind } from './record.ts'

/** The terms of the two kinds for their sides and fields (contract §RequestToPay and OfferToPay). */
type Sides = {
  /** The noun for messages. */
  noun: string
  path: string
  /** The side that decides on it. */
  decider: 'payer' | 'payee'
  identifierField: string
  amountField: string
  /** The kind of its mail, and its command (`svc ob …`). */
  name: string
}

/** One state machine with the sides swapped (decision 6): this table holds all differences in wording. */
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
