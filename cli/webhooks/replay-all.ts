import { listOutbox, replayForMerchant, replayWebhooks } from '../../src/wire/webhooks.ts'
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
import type { FoundDelivery } from './find-of-merchants.ts'

export type BulkOptions = TimeRange & {
  merchant: string
  event?: EventType | undefined
  reason?: string | undefined
  dryRun: boolean
}

/** All of a merchant's own that are dead, in one request. */
export async function replayAllOwn(
  context: Context,
  options: Omit<BulkOptions, 'merchant' | 'reason'>,
): Promise<CommandResult> {
  const { from, to } = rangeOf(options)
  const body = {
    status: 'DEAD' as const,
    dry_run: options.dryRun,
    ...(from === undefined ? {} : { since: from }),
    ...(to === undefined ? {} : { until: to }),
    ...(options.event === undefined ? {} : { event_type: options.event }),
  }
  const { body: counted } = await call(context.client(), replayWebhooks, { body })
  const { matching, queued, has_more: hasMore } = counted
  printCount(context, {
    item: { ...counted, dry_run: options.dryRun },
    matching,
    replayed: queued,
    dryRun: options.dryRun,
  })
  if (!options.dryRun && hasMore) context.note('There are more: the same command again')
  else if (queued > 0) context.note('They are spread over some time. To watch them: svc webhooks list --follow')
  return undefined
}

/** How many go by between two words about it. */
const TOLD_EVERY = 100

/** All of a merchant's that are dead when it begins: each a replay of its own in the audit trail. */
export async function replayAllOfMerchant(context: Context, options: BulkOptions): Promise<CommandResult> {
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
    const item = { matching: dead.length, replayed: count, dry_run: options.dryRun }
    printCount(context, { item, matching: dead.length, replayed: count, dryRun: options.dryRun })
  }
  return undefined
}

/** The query of a request that is only tried. */
export function tried(dryRun: boolean): { dry_run?: 'true' } {
  return dryRun ? { dry_run: 'true' } : {}
}

/** @throws {CliError} DELIVERY_NOT_DEAD and others, as the service refuses it */
export async function replayOfMerchant(
  client: Client,
  { id: deliveryId, merchantId: id }: { id: string; merchantId: string },
  { reason, dryRun = false }: { reason: string | undefined; dryRun?: boolean },
): Promise<AdminDelivery> {
  const body = reason === undefined ? {} : { reason }
  return (await call(client, replayForMerchant, { params: { id, deliveryId }, query: tried(dryRun), body })).body
}

/** Sends one again; false where somebody else has been quicker. */
export async function replayIfDead(
  client: Client,
  found: Pick<FoundDelivery, 'id' | 'merchantId'>,
  reason: string | undefined,
): Promise<boolean> {
  try {
    await replayOfMerchant(client, found, { reason })
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

type Count = { item: object; matching: number; replayed: number; dryRun: boolean }

function printCount(context: Context, { item, matching, replayed, dryRun }: Count): void {
  context.print.record({
    item,
    id: String(replayed),
    lines: [
      ['Dead', String(matching)],
      [dryRun ? 'Would be sent again' : 'Sent again', String(dryRun ? matching : replayed)],
    ],
  })
  if (dryRun) context.note('Nothing was changed.')
}
