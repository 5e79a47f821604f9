import { invalidField } from '../lib/errors.ts'
import type { FeedPosition } from './feed-sql.ts'

/** Where a reader begins that only wants what comes from now on. */
export const LATEST = 'latest'

/** The cursor of a place in the feed (decision 56): the same for a page of it and for a stream. */
export function encodeCursor({ xid, ordinal }: FeedPosition): string {
  return Buffer.from(`${xid}.${ordinal}`, 'utf8').toString('base64url')
}

/** 2^64 has 20 digits, 2^63 has 19: what is longer was never a position. */
const POSITION = /^(\d{1,19})\.(\d{1,19})$/

/**
 * The place that a cursor stands for.
 * @throws {DomainError} VALIDATION_FAILED at `field`
 */
export function decodeCursor(cursor: string, field: string): FeedPosition {
  const [, xid, ordinal] = POSITION.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? []
  const isPosition = xid !== undefined && ordinal !== undefined && BigInt(ordinal) <= 9_223_372_036_854_775_807n
  // Decoding passes over what is no base64: only what this feed writes itself is its cursor.
  if (!isPosition || encodeCursor({ xid, ordinal }) !== cursor) {
    throw invalidField(field, 'INVALID', 'is not a cursor that this feed gave')
  }
  return { xid, ordinal }
}
