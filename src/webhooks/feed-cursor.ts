import { invalidField } from '../lib/errors.ts'
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
