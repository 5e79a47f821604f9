import type { EventType } from '../../src/wire/webhook-events.ts'
import { listOutbox, replayWebhooks } from '../../src/wire/webhooks.ts'
import { call } from '../client/call.ts'
import { collectPages } from '../client/pages.ts'
import type { CommandResult, Context } from '../kit/context.ts'
import { rangeOf } from '../kit/paging.ts'
import type { TimeRange } from '../kit/paging.ts'
import { findMerchant } from '../merchants/find.ts'
import { withProgress } from '../output/progress.ts'
import { replayIfDead } from './replay-one.ts'

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
    since: from,
    until: to,
    ...(options.event === undefined ? {} : { event_type: options.event }),
  }
  const { body: counted } = await call(context.client(), replayWebhooks, { body })
  const { matching, queued, has_more: hasMore } = counted
  const { dryRun } = options
  printCount(context, { matching, queued, dryRun, more: { ...counted, dry_run: dryRun } })
  if (!dryRun && hasMore) context.note('There are more: the same command again')
  else if (queued > 0) context.note('They are spread over some time. To watch them: svc webhooks list --follow')
}

/** How many go by between two words about it. */
const TOLD_EVERY = 100

/** All of a merchant's that are dead when it begins, the oldest first: each a replay of its own in the audit trail. */
export async function replayAllOfMerchant(context: Context, options: BulkOptions): Promise<CommandResult> {
  const { event, reason, dryRun } = options
  const { from, to } = rangeOf(options)
  const client = context.client()
  const { merchant } = await findMerchant(client, [options.merchant])
  const filter = {
    merchant_id: merchant.id,
    status: 'DEAD' as const,
    event_type: event,
  }
  const { items } = await collectPages({ limit: '100', all: true }, async (page) => {
    return (await call(client, listOutbox, { query: { ...filter, ...page } })).body
  })
  // All of these times are written alike, in UTC with milliseconds.
  const dead = items
    .toReversed()
    .filter(({ created_at: at }) => (from === undefined || at >= from) && (to === undefined || at < to))
  let queued = 0
  try {
    await withProgress(context, { title: 'Replaying', unit: 'deliveries', total: dead.length }, async (progress) => {
      for (const { id } of dryRun ? [] : dead) {
        if (await replayIfDead(client, { id, merchantId: merchant.id }, { reason })) queued += 1
        progress.at(queued)
        if (!progress.isShown && queued > 0 && queued % TOLD_EVERY === 0)
          progress.note(`${queued} of ${dead.length} so far`)
      }
    })
  } finally {
    printCount(context, { matching: dead.length, queued, dryRun })
  }
}

type Count = { matching: number; queued: number; dryRun: boolean; more?: object }

function printCount(context: Context, { matching, queued, dryRun, more }: Count): void {
  context.print.record({
    item: more ?? { matching, replayed: queued, dry_run: dryRun },
    id: String(queued),
    lines: [
      ['Dead', String(matching)],
      [dryRun ? 'Would be sent again' : 'Sent again', String(dryRun ? matching : queued)],
    ],
  })
  if (dryRun) context.note('Nothing was changed.')
}
