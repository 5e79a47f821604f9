import type { App } from '../app.ts'
import { keyOfCursor, pageOf } from '../lib/cursor.ts'
import { isUuid } from '../lib/ids.ts'
import { listUnmatchedRows } from './match-sql.ts'
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
 * A page of settled payments, executed refunds and payouts of some days that no line is known of, the oldest first.
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function listUnmatchedMovements(
  app: Pick<App, 'pool'>,
  { from, to, limit, cursor }: PageQuery & { from: string; to: string },
): Promise<Paged<UnmatchedMovementRecord>> {
  const key = cursor === undefined ? undefined : keyOfCursor(cursor, isPosition)
  const [at = '', id = ''] = key?.split(' ') ?? []
  const after = key === undefined ? undefined : { at, id }
  const found = await listUnmatchedRows(app.pool, { from, to, after, limit })
  return pageOf(found, limit, (row) => `${row.created_at} ${row.refund_id ?? row.payment_id ?? row.payout_id}`)
}

function isPosition(text: string): boolean {
  const [at = '', id = '', ...rest] = text.split(' ')
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/.test(at) && isUuid(id) && rest.length === 0
}
