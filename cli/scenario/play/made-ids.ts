import type { CaseRun } from './case-run.ts'

/**
 * What a case made, by the ids that the service gave: to look at it afterwards, and to compare two runs of one seed. In
 * the order of names and ids, for what is made at the same time is there in another order each time; events are those
 * that the receiver had at the end of the case.
 */
export type MadeIds = {
  /** Empty where the merchant was not made. */
  merchantId: string
  payments: readonly { name: string; paymentId: string }[]
  events: readonly { eventId: string; eventType: string }[]
}

export function idsOf({ merchant, made, receiver }: CaseRun): MadeIds {
  const events = new Map((receiver?.receipts ?? []).map(({ eventId, eventType }) => [eventId, { eventId, eventType }]))
  return {
    merchantId: merchant.merchant_id,
    payments: made
      .flatMap((each) => (each.kind === 'payment' ? [{ name: each.name, paymentId: each.created.payment_id }] : []))
      .toSorted((one, other) => compare(one.name, other.name) || compare(one.paymentId, other.paymentId)),
    events: [...events.values()].toSorted((one, other) => compare(one.eventId, other.eventId)),
  }
}

const { compare } = new Intl.Collator('en', { numeric: true })
