import type { App } from '../app.ts'
import { readExamined } from '../db/examined-pages.ts'
import { keyOfCursor } from '../lib/cursor.ts'
import { isUuid } from '../lib/ids.ts'
import type { DeliveryStatus } from '../wire/webhooks.ts'
import { listOutboxRows } from './list-sql.ts'
import type { PagePosition } from './list-sql.ts'
import type { OutboxRecord } from './record.ts'

export type ListOutboxQuery = {
  /** Any text, like the payment's: an invalid id has no deliveries. */
  merchant_id?: string | undefined
  payment_id?: string | undefined
  status?: DeliveryStatus | undefined
  event_type?: string | undefined
  limit: number
  cursor?: string | undefined
}

const SEPARATOR = '.'
const MICROSECONDS = /^\d{1,16}$/

/** Whether a text is a position in the list: microseconds since 1970, and an id. */
function isPlace(text: string): boolean {
  const [us = '', id = '', ...more] = text.split(SEPARATOR)
  return MICROSECONDS.test(us) && isUuid(id) && more.length === 0
}

function positionOf(place: string | undefined): PagePosition | undefined {
  const [us, id] = place?.split(SEPARATOR) ?? []
  return us === undefined || id === undefined ? undefined : { us, id }
}

/**
 * A page of the webhook deliveries of all merchants, the newest first (decision 26).
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function listOutbox(
  app: Pick<App, 'pool'>,
  query: ListOutboxQuery,
): Promise<{ deliveries: readonly OutboxRecord[]; nextCursor: string | null }> {
  const { merchant_id: merchantId, payment_id: paymentId, limit } = query
  const after = query.cursor === undefined ? undefined : keyOfCursor(query.cursor, isPlace)
  const ids = [merchantId, paymentId].filter((each) => each !== undefined)
  if (!ids.every((each) => isUuid(each))) return { deliveries: [], nextCursor: null }
  const filter = { merchantId, paymentId, status: query.status, eventType: query.event_type }
  const { rows, nextCursor } = await readExamined({
    limit,
    after,
    read: (last, count) => listOutboxRows(app.pool, { ...filter, before: positionOf(last), limit: count + 1 }),
    keyOf: (row) => `${row.created_us}${SEPARATOR}${row.id}`,
  })
  return { deliveries: rows, nextCursor }
}
