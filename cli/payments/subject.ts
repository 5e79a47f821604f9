import type { PaymentSummary } from '../../src/wire/payments.ts'
import { endOfId } from '../base/text.ts'
import type { Subject } from '../kit/action.ts'

/** What lists show of a payment; only its merchant sees the payer. */
export type ListedPayment = Pick<
  PaymentSummary,
  'payment_id' | 'status' | 'gross_amount' | 'refunded_amount' | 'currency'
> & { payer_name?: string | null }

export const anyPayment: Subject<ListedPayment> = {
  noun: 'payment',
  summary: 'Its id, at least the last 8 characters of it, or its end-to-end id',
  async find(client, given) {
    const { adminPayment } = await import('./find.ts')
    const thing = await adminPayment(client, given)
    return { thing, isExact: given.toLowerCase() === thing.payment_id }
  },
  id: ({ payment_id: id }) => id,
  name: ({ payment_id: id, gross_amount: amount, currency }) => `payment ${endOfId(id)} of ${amount} ${currency}`,
  handle: ({ payment_id: id }) => id,
  confirmBy: ({ payment_id: id }) => [endOfId(id), id],
}

export const payment: Subject<ListedPayment> = {
  ...anyPayment,
  async find(client, given) {
    const { ownPayment } = await import('./find.ts')
    const thing = await ownPayment(client, given)
    return { thing, isExact: given.toLowerCase() === thing.payment_id }
  },
}
