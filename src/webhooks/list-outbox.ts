import type { App } from '../app.ts'
import { keyOfCursor, pageOfExamined } from '../lib/cursor.ts'
import { isUuid } from '../lib/ids.ts'
import type { DeliveryStatus } from '../wire/webhooks.ts'
import { listOutboxRows } from './list-sql.ts'
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

/**
 * A page of the webhook deliveries of all merchants, the newest first (decision 26).
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function listOutbox(
  app: Pick<App, 'pool'>,
  query: ListOutboxQuery,
): Promise<{ deliveries: readonly OutboxRecord[]; nextCursor: string | null }> {
  const { merchant_id: merchantId, payment_id: paymentId, limit } = query
  const [us, id] = query.cursor === undefined ? [] : keyOfCursor(query.cursor, isPlace).split(SEPARATOR)
  const ids = [merchantId, paymentId].filter((each) => each !== undefined)
  if (!ids.every((each) => isUuid(each))) return { deliveries: [], nextCursor: null }
  const found = await listOutboxRows(app.pool, {
    merchantId,
    paymentId,
    status: query.status,
    eventType: query.event_type,
    before: us === undefined || id === undefined ? undefined : { us, id },
    limit: limit + 1,
  })
  const { rows, nextCursor } = pageOfExamined(found, limit, (row) => `${row.created_us}${SEPARATOR}${row.id}`)
  return { deliveries: rows, nextCursor }
}
