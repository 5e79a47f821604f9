import { listOutbox } from '../../src/wire/webhooks.ts'
import type { AdminDelivery } from '../../src/wire/webhooks.ts'
import type { EventType } from '../../src/wire/webhook-events.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { CommandResult, Context } from '../kit/context.ts'
import { CliError } from '../base/errors.ts'
import { findMerchant } from '../merchants/find.ts'
import { collectPages } from '../client/pages.ts'
import { withProgress } from '../output/progress.ts'
import { rangeOf } from '../kit/time-range.ts'
import type { TimeRange } from '../kit/time-range.ts'
import type { FoundDelivery } from './outbox-find.ts'
import { replayOne } from './outbox-replay-one.ts'

export type BulkOptions = TimeRange & {
  merchant: string
  event?: EventType | undefined
  reason?: string | undefined
  dryRun: boolean
}

/** How many go by between two words about it. */
const TOLD_EVERY = 100

/** All of a merchant's that are dead when it begins: each a replay of its own in the audit trail. */
export async function replayAll(context: Context, options: BulkOptions): Promise<CommandResult> {
  const client = context.client()
  const within = timeOf(options)
  const { merchant } = await findMerchant(client, [options.merchant])
  const dead = (await deadOf(client, { merchantId: merchant.id, event: options.event })).filter(within)
  let count = 0
  try {
    await withProgress(context, { title: 'Replaying', unit: 'deliveries', total: dead.length }, async (progress) => {
      for (const { id } of options.dryRun ? [] : dead) {
        if (await replayIfDead(client, { id, merchantId: merchant.id }, options.reason)) count += 1
        progress.at(count)
        if (!progress.isShown && count > 0 && count % TOLD_EVERY === 0)
          progress.note(`${count} of ${dead.length} so far`)
      }
    })
  } finally {
    printCount(context, { matching: dead.length, replayed: count, dryRun: options.dryRun })
  }
  return undefined
}

/** Sends one again; false where somebody else has been quicker. */
export async function replayIfDead(
  client: Client,
  found: Pick<FoundDelivery, 'id' | 'merchantId'>,
  reason: string | undefined,
): Promise<boolean> {
  try {
    await replayOne(client, found, reason)
    return true
  } catch (error) {
    if (error instanceof CliError && error.code === 'DELIVERY_NOT_DEAD') return false
    throw error
  }
}

function timeOf(options: BulkOptions): (delivery: AdminDelivery) => boolean {
  const { from, to } = rangeOf(options)
  // All of these times are written alike, in UTC with milliseconds.
  return ({ created_at: at }) => (from === undefined || at >= from) && (to === undefined || at < to)
}

/** All of a merchant's that are DEAD, the oldest first. */
export async function deadOf(
  client: Client,
  { merchantId, event }: { merchantId: string; event: EventType | undefined },
): Promise<AdminDelivery[]> {
  const filter = {
    merchant_id: merchantId,
    status: 'DEAD' as const,
    ...(event === undefined ? {} : { event_type: event }),
  }
  const read = async (page: { limit: number; cursor?: string }) =>
    (await call(client, listOutbox, { query: { ...filter, ...page } })).body
  return (await collectPages({ limit: '100', all: true }, read)).items.toReversed()
}

type Count = { matching: number; replayed: number; dryRun: boolean }

function printCount(context: Context, { matching, replayed, dryRun }: Count): void {
  context.print.record({
    item: { matching, replayed, dry_run: dryRun },
    id: String(replayed),
    lines: [
      ['Dead', String(matching)],
      [dryRun ? 'Would be sent again' : 'Sent again', String(dryRun ? matching : replayed)],
    ],
  })
  if (dryRun) context.note('Nothing was changed.')
}
