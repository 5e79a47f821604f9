import type { App } from '../app.ts'
import { keyOfCursor, pageOf } from '../lib/cursor.ts'
import { isUuid } from '../lib/ids.ts'
import type { DisputeStatus } from '../wire/dispute-fields.ts'
import { listDisputeRows } from './read-sql.ts'
import { listUrgentRows } from './urgent-sql.ts'
import type { UrgentPosition, UrgentRow } from './urgent-sql.ts'
import type { DisputeSummaryRecord } from './record.ts'

export type ListDisputesQuery = {
  status?: DisputeStatus | undefined
  /** Any text: one that is not a UUID has no disputes. */
  payment_id?: string | undefined
  from?: string | undefined
  to?: string | undefined
  order: 'newest' | 'oldest' | 'urgent'
  limit: number
  cursor?: string | undefined
}

/**
 * A page of disputes; the cursor names the last dispute of the page before.
 * @param merchantId undefined for operators, who list disputes of all merchants
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function listDisputes(
  app: Pick<App, 'pool'>,
  { merchantId, query }: { merchantId: string | undefined; query: ListDisputesQuery },
): Promise<{ disputes: readonly DisputeSummaryRecord[]; nextCursor: string | null }> {
  const { order, cursor, limit } = query
  const key = cursor === undefined ? undefined : keyOfCursor(cursor, order === 'urgent' ? isPosition : isUuid)
  const ids = [merchantId, query.payment_id]
  if (ids.some((id) => id !== undefined && !isUuid(id))) return { disputes: [], nextCursor: null }
  const { status, from, to, payment_id: paymentId } = query
  const filter = { merchantId, status, paymentId, from, to, limit: limit + 1 }
  if (order === 'urgent') {
    const after = key === undefined ? undefined : positionOf(key)
    const { rows, nextCursor } = pageOf(await listUrgentRows(app.pool, { ...filter, after }), limit, keyOfPosition)
    return { disputes: rows, nextCursor }
  }
  const found = await listDisputeRows(app.pool, { ...filter, order, afterId: key })
  const { rows, nextCursor } = pageOf(found, limit, ({ id }) => id)
  return { disputes: rows, nextCursor }
}

const SEPARATOR = '.'

/** The cursor key of a row: its deadline and id, or the id alone once it is resolved. */
function keyOfPosition({ due_us: us, id }: Pick<UrgentRow, 'due_us' | 'id'>): string {
  return `${us ?? ''}${SEPARATOR}${id}`
}

function positionOf(key: string): UrgentPosition {
  const [us = '', id = ''] = key.split(SEPARATOR)
  return { dueUs: us === '' ? null : us, id }
}

function isPosition(text: string): boolean {
  const { dueUs, id } = positionOf(text)
  return (dueUs === null || /^\d{1,16}$/.test(dueUs)) && isUuid(id) && text === keyOfPosition({ due_us: dueUs, id })
}
