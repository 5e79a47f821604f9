import { invalidField } from './errors.ts'

/** The cursor of a page's last row: opaque, so that nobody builds one (decision 25). */
export function cursorOf(key: string): string {
  return Buffer.from(key, 'utf8').toString('base64url')
}

/**
 * The key that a cursor stands for.
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export function keyOfCursor(cursor: string, isKey: (text: string) => boolean): string {
  const key = Buffer.from(cursor, 'base64url').toString('utf8')
  if (isKey(key)) return key
  throw invalidField('cursor', 'INVALID', 'is not one that this list gave')
}

/** A page out of rows that were asked for with one more than `limit`. */
export function pageOf<T>(
  rows: readonly T[],
  limit: number,
  keyOf: (row: T) => string,
): { rows: readonly T[]; nextCursor: string | null } {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { rows: page, nextCursor: rows.length > limit && last !== undefined ? cursorOf(keyOf(last)) : null }
}
