import { DeliveryStatus } from '../../../src/wire/webhooks.ts'
import type { EventType } from '../../../src/wire/webhook-events.ts'
import type { Shown } from '../screen.ts'
import { ofMerchant, ofPayment, wordAfter } from './merchant-text.ts'
import type { DeliveryRow } from './webhook-lines.ts'
import { eventIn } from './webhook-read.ts'

/** What a filter says of deliveries, and the words of it that the service can't be asked for. */
export type Scope = {
  event: EventType | undefined
  merchantId: string | undefined
  paymentId: string | undefined
  others: readonly string[]
}

export function scopeOf(filter: string): Scope {
  const [event, merchantId, paymentId] = [
    eventIn(filter),
    wordAfter(filter, ofMerchant('')),
    wordAfter(filter, ofPayment('')),
  ]
  const known = new Set([
    ...DeliveryStatus.options,
    event?.toUpperCase(),
    merchantId === undefined ? undefined : ofMerchant(merchantId).toUpperCase(),
    paymentId === undefined ? undefined : ofPayment(paymentId).toUpperCase(),
  ])
  const others = filter.split(/\s+/).filter((word) => word !== '' && !known.has(word.toUpperCase()))
  return { event, merchantId, paymentId, others }
}

/** Whether what is shown may have something in it that is DEAD: what the filter leaves out is not meant. */
export function hasDead({ filter, rows, hasMore }: Shown<DeliveryRow>): boolean {
  if (rows.some(({ status }) => status === 'DEAD')) return true
  const words = filter.toUpperCase().split(/\s+/)
  const isOther = DeliveryStatus.options.some((status) => status !== 'DEAD' && words.includes(status))
  return hasMore && !isOther && scopeOf(filter).others.length === 0
}

/** So many are named by their ids at once. */
const NAMED_MAX = 100

/** What is shown and DEAD, for a filter that the service can't be asked for; or why it is not to be done so. */
export function shownDead({ filter, rows }: Shown<DeliveryRow>, ways: string): readonly DeliveryRow[] | string {
  const dead = rows.filter(({ status }) => status === 'DEAD')
  if (dead.length === 0) return `nothing that "${filter}" shows is DEAD`
  if (dead.length <= NAMED_MAX) return dead
  return `"${filter}" shows ${dead.length} that are DEAD, and the service can't look for that: filter for ${ways}, or for ${NAMED_MAX} or fewer`
}
