import type { PaymentSummary } from '../../src/wire/payments.ts'
import type { Side } from '../client/auth/acting-side.ts'
import type { Client } from '../client/call.ts'
import { endOfId } from '../base/text.ts'
import type { Subject } from '../kit/action.ts'
import { payment } from '../payments/subject.ts'
import type { ListedDispute } from './view.ts'

const named = {
  noun: 'dispute',
  summary: 'Its id, or at least its last 8 characters (the newest)',
  id: ({ id }) => id,
  name: ({ gross_amount: amount, currency }) => `the dispute of ${amount} ${currency}`,
  handle: ({ id }) => id,
} as const satisfies Partial<Subject<ListedDispute>>

export const dispute: Subject<ListedDispute> = {
  ...named,
  async find(client, given) {
    const { findOwnDispute } = await import('./find.ts')
    const thing = await findOwnDispute(client, given)
    return { thing, isExact: thing.id === given.toLowerCase() }
  },
  confirmBy: ({ id }) => [endOfId(id), id],
}

/** A dispute of any merchant, confirmed by whose it is. */
export const anyDispute: Subject<ListedDispute> = {
  ...named,
  async find(client, given) {
    const { findAnyDispute } = await import('./find.ts')
    const thing = await findAnyDispute(client, given)
    return { thing, isExact: thing.id === given.toLowerCase() }
  },
  confirmBy: (thing) => ['realm_slug' in thing ? thing.realm_slug : null, thing.merchant_id],
}

export type DisputedPayment = Pick<PaymentSummary, 'payment_id' | 'status' | 'gross_amount' | 'currency'>

/** A payment that is disputed. @param find what an id or the end of one means to that caller */
export function disputed(find: (client: Client, given: string) => Promise<DisputedPayment>): Subject<DisputedPayment> {
  const name = ({ payment_id: id, gross_amount: amount, currency }: DisputedPayment): string =>
    `payment ${endOfId(id)} of ${amount} ${currency}`
  return {
    noun: payment.noun,
    summary: payment.summary,
    async find(client, given) {
      const thing = await find(client, given)
      return { thing, isExact: thing.payment_id === given.toLowerCase() }
    },
    id: ({ payment_id: id }) => id,
    name,
    handle: ({ payment_id: id }) => id,
    confirmBy: ({ payment_id: id }) => [id],
  }
}

export function disputedOf(sideOf: (client: Client) => Promise<Side>): Subject<DisputedPayment> {
  return disputed(async (client, given) => {
    const { findDisputed } = await import('./find.ts')
    return findDisputed(client, given, await sideOf(client))
  })
}
