import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { requireActiveEndpoint } from './endpoint-errors.ts'
import { findAddress, lockForQueueing } from './endpoint-sql.ts'
import { countDead, replayDead } from './replay-sql.ts'
import type { DeadFilter, ReplayPosition } from './replay-sql.ts'

/** Rows per transaction: the endpoint can't be changed during one. */
const BATCH_ROWS = 2_500

/** Batches per request, 50,000 rows; a repeated request continues. */
const BATCHES_MAX = 20

/** The maximum count: above it the exact number makes no difference. */
const COUNTED_MAX = 10_000

/** A recovered endpoint gets a few at once, and the rest at a rate that it can handle. */
const PACE = { atOnce: 100, perSecond: 50 }

const BEGINNING: ReplayPosition = { created_at: '-infinity', id: '00000000-0000-0000-0000-000000000000' }

export type ReplayWebhooksInput = DeadFilter & {
  actor: Actor
  /** Only counts the matching deliveries. */
  dryRun: boolean
}

/** `matching` is counted up to 10,000, but is never less than `queued`. */
export type ReplayWebhooksResult = { matching: number; queued: number; hasMore: boolean }

/**
 * Replays all DEAD deliveries that match a filter, each from its first attempt, oldest first (decision 26). Two
 * concurrent requests queue each delivery once, at one rate. If the endpoint is paused in the meantime, the queued
 * deliveries wait with the rest.
 * @throws {DomainError} MERCHANT_NOT_FOUND, WEBHOOK_ENDPOINT_NOT_SET, WEBHOOK_ENDPOINT_PAUSED
 */
export async function replayWebhooks(
  app: Pick<App, 'pool' | 'ids' | 'wake'>,
  { actor, dryRun, ...filter }: ReplayWebhooksInput,
): Promise<ReplayWebhooksResult> {
  requireActiveEndpoint(await findAddress(app.pool, filter.merchantId))
  const { count: matching } = await countDead(app.pool, filter, COUNTED_MAX)
  if (dryRun || matching === 0) return { matching, queued: 0, hasMore: matching === COUNTED_MAX }
  let queued = 0
  let behind: ReplayPosition | undefined = BEGINNING
  for (let batch = 0; batch < BATCHES_MAX && behind !== undefined; batch += 1) {
    const from: ReplayPosition = behind
    const isFirst = queued === 0
    const replayed = await app.pool.transaction(async (tx) => {
      const rows = await queueBatch(tx, filter, from)
      // In the first batch's transaction, so that every replay has an audit entry.
      if (isFirst && rows.length > 0) await record(app, tx, { actor, matching, ...filter })
      return rows
    })
    if (replayed.length > 0) app.wake.notify('deliver-webhooks')
    queued += replayed.length
    behind = replayed.length === BATCH_ROWS ? replayed.at(-1) : undefined
  }
  return { matching: Math.max(matching, queued), queued, hasMore: behind !== undefined }
}

/** Queues nothing if the endpoint has been paused or removed in the meantime. */
async function queueBatch(
  tx: DatabaseTransactionConnection,
  filter: DeadFilter,
  behind: ReplayPosition,
): Promise<readonly ReplayPosition[]> {
  const endpoint = await lockForQueueing(tx, filter.merchantId)
  return endpoint?.webhook_url == null ? [] : replayDead(tx, filter, { behind, size: BATCH_ROWS, pace: PACE })
}

type ReplayEntry = DeadFilter & { actor: Actor; matching: number }

async function record(
  app: Pick<App, 'ids'>,
  tx: DatabaseTransactionConnection,
  { actor, matching, merchantId, eventType, since, until }: ReplayEntry,
): Promise<void> {
  await recordAction(app, tx, {
    actor,
    action: 'webhook.replay_many',
    merchantId,
    subjectId: merchantId,
    after: { matching, event_type: eventType ?? null, since: since ?? null, until: until ?? null },
  })
}
