import type { CommonQueryMethods } from 'slonik'
import { invalidField } from '../lib/errors.ts'
import { isAheadOfFeed } from './feed-sql.ts'
import type { FeedPosition } from './feed-sql.ts'

/** The cursor value for readers that want only future events. */
export const LATEST = 'latest'

/** The cursor of a position in the feed (decision 56): the same for a page of it and for a stream. */
export function encodeCursor({ xid, ordinal }: FeedPosition): string {
  return Buffer.from(`${xid}.${ordinal}`, 'utf8').toString('base64url')
}

/** 2^64 has 20 digits, 2^63 has 19: anything longer is not a position. */
const POSITION = /^(\d{1,19})\.(\d{1,19})$/

/**
 * Decodes a cursor.
 * @throws {DomainError} VALIDATION_FAILED at `field`
 */
export function decodeCursor(cursor: string, field: string): FeedPosition {
  const [, xid, ordinal] = POSITION.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? []
  const isPosition = xid !== undefined && ordinal !== undefined && BigInt(ordinal) <= 9_223_372_036_854_775_807n
  // Base64 decoding skips invalid characters, so only a cursor that encodes to the same text is valid.
  if (!isPosition || encodeCursor({ xid, ordinal }) !== cursor) {
    throw invalidField(field, 'INVALID', 'is not a cursor of this feed')
  }
  return { xid, ordinal }
}

/**
 * An empty feed would be the answer for as long as positions take to reach this one, and events up to then never be read.
 * @throws {DomainError} VALIDATION_FAILED at `field` for a position that this feed has not given out
 */
export async function rejectAheadOfFeed(tx: CommonQueryMethods, position: FeedPosition, field: string): Promise<void> {
  if (!(await isAheadOfFeed(tx, position))) return
  const then = `read the feed again from its beginning, or from "${LATEST}" on`
  throw invalidField(field, 'INVALID', `is ahead of this feed, as after a restore of its database: ${then}`)
}
