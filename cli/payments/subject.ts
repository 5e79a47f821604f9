import type { PaymentSummary } from '../../src/wire/payments.ts'
import { endOfId } from '../base/text.ts'
import { rowSubject } from '../kit/action.ts'
import { adminPayment, ownPayment } from './find.ts'

/** What lists show of a payment; only its merchant sees the payer. */
export type ListedPayment = Pick<
  PaymentSummary,
  'payment_id' | 'status' | 'gross_amount' | 'refunded_amount' | 'currency'
> & { payer_name?: string | null }

const PAYMENT = {
  noun: 'payment',
  summary: 'Its id, at least the last 8 characters of it, or its end-to-end id',
  id: ({ payment_id: id }: ListedPayment) => id,
  name: ({ payment_id: id, gross_amount: amount, currency }: ListedPayment) =>
    `payment ${endOfId(id)} of ${amount} ${currency}`,
}

export const anyPayment = rowSubject<ListedPayment>(PAYMENT, adminPayment)
export const payment = rowSubject<ListedPayment>(PAYMENT, ownPayment)
