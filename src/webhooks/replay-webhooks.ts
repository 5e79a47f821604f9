import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { requireActiveEndpoint } from './endpoint-errors.ts'
import { findAddress, holdForQueueing } from './endpoint-sql.ts'
import { countDead, replayDead } from './replay-sql.ts'
import type { DeadFilter, ReplayPosition } from './replay-sql.ts'

/** Rows of one transaction: the endpoint can't be changed while one runs. */
const BATCH_ROWS = 2_500

/** As many as one request queues, 50,000; asked again, it goes on. */
const BATCHES_MAX = 20

/** As many as are counted: beyond it, how many they are changes nothing. */
const COUNTED_MAX = 10_000

/** An endpoint that has just come back gets a few at once, and the rest at a pace that it can keep up with. */
const PACE = { atOnce: 100, perSecond: 50 }

const BEGINNING: ReplayPosition = { created_at: '-infinity', id: '00000000-0000-0000-0000-000000000000' }

export type ReplayMany = DeadFilter & {
  actor: Actor
  /** Only counts them. */
  dryRun: boolean
}

/** `matching` is counted up to 10,000, and no fewer than were queued. */
export type Replayed = { matching: number; queued: number; hasMore: boolean }

/**
 * Sends all DEAD deliveries of a time again, each from its first attempt, the oldest first (decision 26). Twice at the
 * same time queues each one once, at one pace. What was queued before an endpoint is paused meanwhile waits with the
 * rest.
 * @throws {DomainError} MERCHANT_NOT_FOUND, WEBHOOK_ENDPOINT_NOT_SET, WEBHOOK_ENDPOINT_PAUSED
 */
export async function replayWebhooks(
  app: Pick<App, 'pool' | 'ids' | 'wake'>,
  { actor, dryRun, ...filter }: ReplayMany,
): Promise<Replayed> {
  requireActiveEndpoint(await app.pool.maybeOne(findAddress(filter.merchantId)))
  const { count: matching } = await app.pool.one(countDead(filter, COUNTED_MAX))
  if (dryRun || matching === 0) return { matching, queued: 0, hasMore: matching === COUNTED_MAX }
  let queued = 0
  let behind: ReplayPosition | undefined = BEGINNING
  for (let batch = 0; batch < BATCHES_MAX && behind !== undefined; batch += 1) {
    const from: ReplayPosition = behind
    const isFirst = queued === 0
    const replayed = await app.pool.transaction(async (tx) => {
      const rows = await queueBatch(tx, filter, from)
      // With the first of them, so that nothing is sent again in nobody's name.
      if (isFirst && rows.length > 0) await record(app, tx, { actor, matching, ...filter })
      return rows
    })
    if (replayed.length > 0) app.wake.notify('deliver-webhooks')
    queued += replayed.length
    behind = replayed.length === BATCH_ROWS ? replayed.at(-1) : undefined
  }
  return { matching: Math.max(matching, queued), queued, hasMore: behind !== undefined }
}

/** Nothing where the endpoint was paused or removed since. */
async function queueBatch(
  tx: DatabaseTransactionConnection,
  filter: DeadFilter,
  behind: ReplayPosition,
): Promise<readonly ReplayPosition[]> {
  const { webhook_url } = await tx.one(holdForQueueing(filter.merchantId))
  return webhook_url === null ? [] : tx.any(replayDead(filter, { behind, size: BATCH_ROWS, pace: PACE }))
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
