import type { App } from '../app.ts'
import { signingHeaders } from '../lib/webhook-signature.ts'
import { findSigningSecrets } from '../signing/open-secrets.ts'
import type { SigningSecrets } from '../signing/secret.ts'
import { LATEST, decodeCursor, encodeCursor, rejectAheadOfFeed } from './feed-cursor.ts'
import { findFeedEnd, listFeed } from './feed-sql.ts'
import type { FeedPosition, FeedRecord } from './feed-sql.ts'

export type FeedEvent = Omit<FeedRecord, 'xid' | 'ordinal'> & { cursor: string; signatures: Record<string, string> }
export type FeedPage = { events: FeedEvent[]; nextCursor: string | null }

const BEGINNING: FeedPosition = { xid: '0', ordinal: '0' }

/**
 * A page of a merchant's events in the order of their commits, each with the payload and signing headers of its webhook
 * (decision 56). Reading on from the last cursor skips no event, however late a transaction commits.
 * @throws {DomainError} VALIDATION_FAILED for an invalid cursor, or one that is ahead of the feed
 */
export async function listEvents(
  app: Pick<App, 'pool' | 'sealer' | 'log'>,
  { merchantId, after, limit }: { merchantId: string; after: string | undefined; limit: number },
): Promise<FeedPage> {
  if (after === LATEST) return { events: [], nextCursor: encodeCursor(await findFeedEnd(app.pool)) }
  const position = after === undefined ? BEGINNING : decodeCursor(after, 'after')
  const rows = await listFeed(app.pool, { merchantId, after: position, limit })
  if (rows.length === 0) {
    await rejectAheadOfFeed(app.pool, position, 'after')
    return { events: [], nextCursor: after ?? null }
  }
  const secrets = await findSigningSecrets(app, merchantId)
  const events = rows.map((row) => feedEvent(row, secrets))
  return { events, nextCursor: events.at(-1)?.cursor ?? null }
}

function feedEvent({ xid, ordinal, ...event }: FeedRecord, secrets: SigningSecrets): FeedEvent {
  const body = Buffer.from(event.payload, 'utf8')
  const signatures = signingHeaders({ eventId: event.event_id, body, ...secrets, now: Date.now() })
  return { ...event, cursor: encodeCursor({ xid, ordinal }), signatures }
}
