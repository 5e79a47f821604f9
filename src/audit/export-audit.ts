import type { App } from '../app.ts'
import type { AuditChain, AuditRow } from '../lib/audit-chain.ts'
import { cursorOf, keyOfCursor } from '../lib/cursor.ts'
import { listChainRows } from './chains-sql.ts'
import { isOrdinal } from './record.ts'

/** A request's body is the larger part of a row, and a thousand large ones would be too much for one response. */
const PAGE_BYTES_MAX = 4 * 1024 * 1024

/**
 * The minimum age of an exported event. By then every transaction that numbered an earlier event has ended
 * (db/connection.ts), so that no late commit is missing from an earlier page. It grows with the limits of transactions
 * (config `SVC_DATABASE_TIMEOUT_FACTOR`).
 */
const AGE_SECONDS = 30

export type ExportPage = { rows: AuditRow[]; nextCursor: string | null }
export type ExportQuery = { chain: AuditChain; cursor?: string | undefined; limit: number }

/**
 * A page of a hash chain, the oldest row first, every column as the text that was hashed.
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function exportAudit(
  { pool, config }: Pick<App, 'pool' | 'config'>,
  query: ExportQuery,
): Promise<ExportPage> {
  return exportSettled(pool, query, AGE_SECONDS * config.databaseTimeoutFactor)
}

/** `exportAudit` with another minimum age of an event, in seconds. */
export async function exportSettled(
  pool: App['pool'],
  { chain, cursor, limit }: ExportQuery,
  ageSeconds: number,
): Promise<ExportPage> {
  const afterOrdinal = cursor === undefined ? '0' : keyOfCursor(cursor, isOrdinal)
  const page = { chain, afterOrdinal, limit, bytesMax: PAGE_BYTES_MAX, ageSeconds }
  const { rows, more } = await listChainRows(pool, page)
  const last = rows.at(-1)?.['ordinal']
  return { rows, nextCursor: more && typeof last === 'string' ? cursorOf(last) : null }
}
