import { invalidField } from './errors.ts'

/** The cursor of a page's last row: opaque, so that clients do not construct one (decision 25). */
export function cursorOf(key: string): string {
  return Buffer.from(key, 'utf8').toString('base64url')
}

/**
 * Decodes a cursor into the key it contains.
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export function keyOfCursor(cursor: string, isKey: (text: string) => boolean): string {
  const key = Buffer.from(cursor, 'base64url').toString('utf8')
  if (isKey(key)) return key
  throw invalidField('cursor', 'INVALID', 'is not a cursor of this list')
}

/** A page of at most `limit` rows, from a query that fetched up to `limit` + 1. */
export function pageOf<T>(
  rows: readonly T[],
  limit: number,
  keyOf: (row: T) => string,
): { rows: readonly T[]; nextCursor: string | null } {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { rows: page, nextCursor: rows.length > limit && last !== undefined ? cursorOf(keyOf(last)) : null }
}

/** A row of a list that examines its newest rows one by one: whether it matches, and whether it is the last one examined. */
export type ExaminedRow = { matches: boolean; is_last_examined: boolean }

/**
 * The same of rows that were examined. A page ends where its examination did, so that it may have fewer rows than `limit`,
 * even none, and the next one begins there.
 */
export function pageOfExamined<T extends ExaminedRow>(
  rows: readonly T[],
  limit: number,
  keyOf: (row: T) => string,
): { rows: readonly Omit<T, keyof ExaminedRow>[]; nextCursor: string | null } {
  const end = rows.findIndex((row) => row.is_last_examined)
  const last = rows[end]
  const found = last === undefined ? rows : rows.slice(0, end + 1).filter(({ matches }) => matches)
  const page = pageOf(found, limit, keyOf)
  const shown = page.rows.map(({ matches: _matches, is_last_examined: _isLast, ...row }) => row)
  return { rows: shown, nextCursor: page.nextCursor ?? (last === undefined ? null : cursorOf(keyOf(last))) }
}
