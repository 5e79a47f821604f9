import type { Changed } from './follow-feed.ts'

/** A change of records that are not events: of one merchant's, or of those that only operators see. */
export type Change = { of: Changed; merchantId: string | undefined }

/** The reader of a stream. Operators get every change, merchants those of their own records that their role may see. */
export type Subscriber = {
  /** Undefined for operators. */
  merchantId: string | undefined
  /** Whether a merchant's role manages webhooks now; operators always may. */
  canSeeDeliveries(): boolean
}

const OF_OPERATORS: ReadonlyMap<string, Changed> = new Map([
  ['console:merchants', 'merchants'],
  ['console:disputes', 'disputes'],
  ['console:audit', 'audit'],
])
const DELIVERIES = 'console:deliveries:'

/** The change that a wake-up announces (migrations/functions/notify_consoles.sql); undefined where it wakes a job. */
export function changeOf(name: string): Change | undefined {
  const of = OF_OPERATORS.get(name)
  if (of !== undefined) return { of, merchantId: undefined }
  return name.startsWith(DELIVERIES) ? { of: 'deliveries', merchantId: name.slice(DELIVERIES.length) } : undefined
}

export function isFor({ of, merchantId }: Change, subscriber: Subscriber): boolean {
  if (subscriber.merchantId === undefined) return true
  return subscriber.merchantId === merchantId && of === 'deliveries' && subscriber.canSeeDeliveries()
}

/** All changes that may have been missed while the process was not listening. */
export function allChangesFor(subscriber: Subscriber): Changed[] {
  if (subscriber.merchantId === undefined) return [...OF_OPERATORS.values(), 'deliveries']
  return subscriber.canSeeDeliveries() ? ['deliveries'] : []
}
