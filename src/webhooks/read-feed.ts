import type { App } from '../app.ts'
import { invalidField } from '../lib/errors.ts'
import { signingHeaders } from '../lib/webhook-headers.ts'
import { findSigningSecrets } from '../signing/open-secrets.ts'
import type { SigningSecrets } from '../signing/secret.ts'
import { findFeedEnd, listFeed } from './feed-sql.ts'
import type { FeedPosition, FeedRecord } from './feed-sql.ts'

export type FeedEvent = Omit<FeedRecord, 'xid' | 'ordinal'> & { cursor: string; signatures: Record<string, string> }
export type FeedPage = { events: FeedEvent[]; nextCursor: string | null }

const BEGINNING: FeedPosition = { xid: '0', ordinal: '0' }

/** Where a reader begins that only wants what comes from now on. */
const LATEST = 'latest'

/**
 * A page of a merchant's events in the order of their commits, each with the bytes and signing headers of its webhook
 * (decision 56). Reading from the last cursor on passes over nothing, however late a transaction commits.
 * @throws {DomainError} VALIDATION_FAILED for a cursor that this feed did not give
 */
export async function readFeed(
  app: Pick<App, 'pool' | 'sealer' | 'log'>,
  { merchantId, after, limit }: { merchantId: string; after: string | undefined; limit: number },
): Promise<FeedPage> {
  if (after === LATEST) return { events: [], nextCursor: encodeCursor(await findFeedEnd(app.pool)) }
  const position = after === undefined ? BEGINNING : decodeCursor(after)
  const rows = await listFeed(app.pool, { merchantId, after: position, limit })
  if (rows.length === 0) return { events: [], nextCursor: after ?? null }
  const secrets = await findSigningSecrets(app, merchantId)
  const events = rows.map((row) => feedEvent(row, secrets))
  return { events, nextCursor: events.at(-1)?.cursor ?? null }
}

function feedEvent({ xid, ordinal, ...event }: FeedRecord, secrets: SigningSecrets): FeedEvent {
  const body = Buffer.from(event.payload, 'utf8')
  const signatures = signingHeaders({ eventId: event.event_id, body, ...secrets, now: Date.now() })
  return { ...event, cursor: encodeCursor({ xid, ordinal }), signatures }
}

function encodeCursor({ xid, ordinal }: FeedPosition): string {
  return Buffer.from(`${xid}.${ordinal}`, 'utf8').toString('base64url')
}

/** 2^64 has 20 digits, 2^63 has 19: what is longer was never a position. */
const POSITION = /^(\d{1,19})\.(\d{1,19})$/

function decodeCursor(cursor: string): FeedPosition {
  const [, xid, ordinal] = POSITION.exec(Buffer.from(cursor, 'base64url').toString('utf8')) ?? []
  const isPosition = xid !== undefined && ordinal !== undefined && BigInt(ordinal) <= 9_223_372_036_854_775_807n
  // Decoding passes over what is no base64: only what this feed writes itself is its cursor.
  if (!isPosition || encodeCursor({ xid, ordinal }) !== cursor) {
    throw invalidField('after', 'INVALID', 'is not a cursor that this feed gave')
  }
  return { xid, ordinal }
}
