import { z } from 'zod'
import type { App } from '../app.ts'
import { FILL_MS } from '../db/examined-pages.ts'
import { cursorOf, keyOfCursor, pageOf } from '../lib/cursor.ts'
import { isUuid } from '../lib/ids.ts'
import { listUnmatchedRows } from './movements-sql.ts'
import { dayAfter, partsOfDays } from './parts-of-days.ts'
import type { StatementLineRecord, StatementRecord, UnmatchedMovementRecord } from './record.ts'
import { listLineRows, listStatementRows } from './sql.ts'

type Paged<T> = { rows: readonly T[]; nextCursor: string | null }
type PageQuery = { limit: number; cursor?: string | undefined }

/**
 * A page of imported statements, the newest first.
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function listStatements(
  app: Pick<App, 'pool'>,
  { limit, cursor }: PageQuery,
): Promise<Paged<StatementRecord>> {
  const afterId = cursor === undefined ? undefined : keyOfCursor(cursor, isUuid)
  return pageOf(await listStatementRows(app.pool, { afterId, limit }), limit, ({ id }) => id)
}

export type ListStatementLinesQuery = PageQuery & {
  /** Any text: one that is not a UUID has no lines. */
  statement_id?: string | undefined
  payment_id?: string | undefined
  state?: 'matched' | 'unmatched' | undefined
  from?: string | undefined
  to?: string | undefined
}

/**
 * A page of lines, the last booked first.
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function listStatementLines(
  app: Pick<App, 'pool'>,
  query: ListStatementLinesQuery,
): Promise<Paged<StatementLineRecord>> {
  const { statement_id: statementId, payment_id: paymentId, cursor, limit, ...filter } = query
  const afterId = cursor === undefined ? undefined : keyOfCursor(cursor, isUuid)
  if ([statementId, paymentId].some((id) => id !== undefined && !isUuid(id))) return { rows: [], nextCursor: null }
  const { state, from, to } = filter
  const found = await listLineRows(app.pool, { statementId, paymentId, state, from, to, afterId, limit })
  return pageOf(found, limit, ({ id }) => id)
}

/**
 * A page of settled payments, executed refunds and payouts of some days that no line is known of, the oldest first. Nearly all
 * movements have a line, so the days are read in parts; a page whose time is over is short, even empty, and its cursor
 * continues with the next day (decision 389).
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function listUnmatchedMovements(
  app: Pick<App, 'pool'>,
  { from, to, limit, cursor }: PageQuery & { from: string; to: string },
): Promise<Paged<UnmatchedMovementRecord>> {
  const until = performance.now() + FILL_MS
  const [at = '', id] = cursor === undefined ? [] : keyOfCursor(cursor, isPosition).split(' ')
  const after = id === undefined ? undefined : { at, id }
  const rows: UnmatchedMovementRecord[] = []
  // The day of a position is that of UTC, which London's day is never before.
  const first = at.slice(0, 10) > from ? at.slice(0, 10) : from
  for (const days of partsOfDays({ from: first, to })) {
    rows.push(...(await listUnmatchedRows(app.pool, { ...days, after, limit: limit - rows.length })))
    if (rows.length > limit) return pageOf(rows, limit, positionOf)
    if (days.to < to && performance.now() >= until) return { rows, nextCursor: cursorOf(dayAfter(days.to, 1)) }
  }
  return { rows, nextCursor: null }
}

function positionOf({ created_at, refund_id, payment_id, payout_id }: UnmatchedMovementRecord): string {
  return `${created_at} ${refund_id ?? payment_id ?? payout_id}`
}

/** Behind a movement, or the beginning of a day. */
function isPosition(text: string): boolean {
  const [at = '', id, ...rest] = text.split(' ')
  if (!z.iso.date().safeParse(at.slice(0, 10)).success || rest.length > 0) return false
  return id === undefined ? at.length === 10 : /^.{10}T\d\d:\d\d:\d\d\.\d{6}Z$/.test(at) && isUuid(id)
}
