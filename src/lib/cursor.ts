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
