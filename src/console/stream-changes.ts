import type { Changed } from './follow-feed.ts'

/** Something beside events has changed: of one merchant, or of what only operators see. */
export type Change = { of: Changed; merchantId: string | undefined }

/** Who follows a stream: what changes is told to operators, and to merchants what is theirs and their role may see. */
export type Listener = {
  /** Undefined for operators. */
  merchantId: string | undefined
  /** Whether a merchant's role manages webhooks; operators see all of them. */
  seesDeliveries: boolean
}

const OF_OPERATORS: ReadonlyMap<string, Changed> = new Map([
  ['console:merchants', 'merchants'],
  ['console:disputes', 'disputes'],
  ['console:audit', 'audit'],
])
const DELIVERIES = 'console:deliveries:'

/** What a wake-up tells of (migrations/functions/tell_consoles.sql); undefined where it tells of a job. */
export function changeOf(name: string): Change | undefined {
  const of = OF_OPERATORS.get(name)
  if (of !== undefined) return { of, merchantId: undefined }
  return name.startsWith(DELIVERIES) ? { of: 'deliveries', merchantId: name.slice(DELIVERIES.length) } : undefined
}

export function concerns({ of, merchantId }: Change, listener: Listener): boolean {
  if (listener.merchantId === undefined) return true
  return listener.merchantId === merchantId && of === 'deliveries' && listener.seesDeliveries
}

/** Everything that could have been told while nobody heard it. */
export function allChangesFor(listener: Listener): Changed[] {
  if (listener.merchantId === undefined) return [...OF_OPERATORS.values(), 'deliveries']
  return listener.seesDeliveries ? ['deliveries'] : []
}
