import type { Side } from '../client/auth/acting-side.ts'
import type { Client } from '../client/call.ts'
import { endOfId } from '../base/text.ts'
import type { Subject } from '../kit/action.ts'
import { rowSubject } from '../kit/action.ts'
import { payment } from '../payments/subject.ts'
import { findAnyDispute, findDisputed, findOwnDispute } from './find.ts'
import type { DisputedPayment } from './find.ts'
import type { ListedDispute } from './view.ts'

const DISPUTE = {
  noun: 'dispute',
  summary: 'Its id, or at least its last 8 characters (the newest)',
  id: ({ id }: ListedDispute) => id,
  name: ({ gross_amount: amount, currency }: ListedDispute) => `the dispute of ${amount} ${currency}`,
}

export const dispute = rowSubject<ListedDispute>(DISPUTE, findOwnDispute)

/** A dispute of any merchant, confirmed by whose it is. */
export const anyDispute = rowSubject<ListedDispute>(
  {
    ...DISPUTE,
    confirmBy: (thing) => ['realm_slug' in thing ? thing.realm_slug : null, thing.merchant_id],
  },
  findAnyDispute,
)

/** A payment, to dispute it or for its receipt. @param find what an id or the end of one means to that caller */
export function paymentBy(find: (client: Client, given: string) => Promise<DisputedPayment>): Subject<DisputedPayment> {
  const { noun, summary } = payment
  return rowSubject(
    {
      noun,
      summary,
      id: ({ payment_id: id }) => id,
      name: ({ payment_id: id, gross_amount: amount, currency }) => `payment ${endOfId(id)} of ${amount} ${currency}`,
      confirmBy: ({ payment_id: id }) => [id],
    },
    find,
  )
}

export function disputedOf(sideOf: (client: Client) => Promise<Side>): Subject<DisputedPayment> {
  return paymentBy(async (client, given) => findDisputed(client, given, await sideOf(client)))
}
