import { listOutbox } from '../../../src/wire/webhooks.ts'
import type { EventType } from '../../../src/wire/webhook-events.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { rowsOf } from '../../client/pages.ts'
import type { Shown } from '../screen.ts'
import type { DeliveryRow } from './webhook-lines.ts'
import { scopeOf, shownDead } from './webhook-scope.ts'

/** What is sent again: the oldest first. */
export type Dead = {
  rows: readonly DeliveryRow[]
  event: EventType | undefined
  /** Whether a command has to name each of them by its id. */
  isNamed: boolean
  /** Whether there may be more than are done at once. */
  isCut: boolean
}

/** So many are done at once: 20 pages. */
const PAGES_MAX = 20
const DEAD_MAX = PAGES_MAX * 100

/** What the filter means of all merchants that is DEAD, counted by the service; or why there is nothing to do. */
export async function deadByFilter(client: Client, shown: Shown<DeliveryRow>): Promise<Dead | string> {
  const { event, merchantId, paymentId, others } = scopeOf(shown.filter)
  if (others.length > 0) {
    const rows = shownDead(shown, 'DEAD with a whole event, payment:<id> or merchant:<id>')
    return typeof rows === 'string' ? rows : { rows: rows.toReversed(), event, isNamed: true, isCut: false }
  }
  const filter = {
    status: 'DEAD' as const,
    ...(event === undefined ? {} : { event_type: event }),
    ...(merchantId === undefined ? {} : { merchant_id: merchantId }),
    ...(paymentId === undefined ? {} : { payment_id: paymentId }),
  }
  const rows: DeliveryRow[] = []
  const pages = rowsOf(
    async (query) => (await call(client, listOutbox, { query: { ...filter, ...query } })).body,
    PAGES_MAX,
  )
  for await (const row of pages) rows.push(row)
  if (rows.length === 0) return shown.filter === '' ? 'nothing is DEAD' : `nothing of "${shown.filter}" is DEAD`
  // A command has no word for a payment.
  return { rows: rows.toReversed(), event, isNamed: paymentId !== undefined, isCut: rows.length >= DEAD_MAX }
}
