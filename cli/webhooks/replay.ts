import { EventType } from '../../src/wire/webhook-events.ts'
import { listOutbox, replayWebhooks } from '../../src/wire/webhooks.ts'
import type { AdminDelivery, Delivery, DeliveryDetail } from '../../src/wire/webhooks.ts'
import { CliError, reportError, usageError } from '../base/errors.ts'
import type { ExitCode } from '../base/exit-codes.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import { call } from '../client/call.ts'
import { collectPages } from '../client/pages.ts'
import type { Flags } from '../kit/action.ts'
import { optionalReason } from '../kit/read-values.ts'
import { command, grouped } from '../kit/command.ts'
import type { Input } from '../kit/command.ts'
import { durationOf } from '../kit/context.ts'
import type { CommandResult, Context } from '../kit/context.ts'
import { pagesIn, timeRange, rangeOf } from '../kit/paging.ts'
import { findMerchant, merchantId } from '../merchants/find.ts'
import { OF_MERCHANTS } from '../merchants/whose.ts'
import { withProgress } from '../output/progress.ts'
import { findDelivery, ownDeliveryId } from './find.ts'
import { replayOne, replayIfDead } from './replay-one.ts'
import { printDeliveries } from './view.ts'
import { waitForAttempt } from './wait.ts'

const FILTERED = 'svc webhooks replay --status DEAD --since 2h'
const FILTERED_OF = 'svc webhooks replay --status DEAD --merchant <merchant> --since 2h --reason "..."'

const FLAGS = {
  ids: {
    value: 'ids',
    summary: 'Delivery ids, from svc webhooks list, or their last 8 characters',
    positional: true,
    several: true,
  },
  dryRun: { summary: 'Show what would be replayed, and change nothing' },
  ...grouped('All of a time, in one request:', {
    status: { value: 'status', summary: 'Replay all deliveries in this status', choices: ['DEAD'] },
    ...timeRange('Created'),
    event: { value: 'event', summary: 'Filter by event', member: 'event_type', choices: EventType.options },
  }),
  ...grouped('How:', {
    wait: { summary: 'Wait for the responses to named deliveries; exit code 3 unless all are 2xx' },
    timeout: { value: 'duration', summary: 'Maximum time to wait for each', initial: '30s' },
  }),
  ...OF_MERCHANTS,
  ...grouped('As an operator:', { reason: optionalReason }),
} as const satisfies Flags
type ReplayOptions = Input<typeof FLAGS>

/**
 * `svc webhooks replay`: those that are named, or with `--status DEAD` all of a time (decision 26): a merchant's own in
 * one request; an operator's one after the other, each an entry of the audit trail.
 */
export const replay = command({
  command: 'webhooks replay',
  summary: 'Replay dead webhook deliveries',
  examples: [
    'svc webhooks replay a2b4358c --wait',
    'svc webhooks replay --status DEAD --since 2h --dry-run',
    'svc webhooks replay --status DEAD --event payment.settled',
    'svc webhooks replay --status DEAD --merchant acme-ltd --reason "their server is back"',
  ],
  flags: FLAGS,
  async run(context, input) {
    const { status, since, until, event, merchant, reason, wait } = input
    const hasFilter = [status, since, until, event].some((option) => option !== undefined)
    if (input.ids.length > 0 && hasFilter) throw usageError('give either ids, or --status DEAD with its filters')
    const ofMerchants = await meansAllMerchants(context.client(), input.allMerchants || merchant !== undefined)
    if (ofMerchants && wait) throw usageError("--wait is for a merchant's own deliveries", 'svc webhooks list')
    if (!ofMerchants && reason !== undefined)
      throw usageError('--reason is for operators, whose replays are in the audit trail: --all-merchants')
    if (input.ids.length > 0) return replayNamed(context, input.ids, { ...input, ofMerchants })
    if (!hasFilter) throw usageError('which deliveries? Give their ids, or --status DEAD', FILTERED)
    if (status === undefined) throw usageError('what is dead is replayed: say --status DEAD as well', FILTERED)
    if (wait) throw usageError('--wait is for deliveries that are named by their ids', 'svc webhooks list --follow')
    if (!ofMerchants) return replayAllOwn(context, input)
    if (merchant === undefined)
      throw usageError('whose deliveries? Those of one merchant are replayed at once', FILTERED_OF)
    return replayAllOfMerchant(context, { ...input, merchant })
  },
})

/** Replays one after the other. One that is refused does not keep the others from it; its exit code is the command's. */
async function replayNamed(
  context: Context,
  args: readonly string[],
  options: ReplayOptions & { ofMerchants: boolean },
): Promise<CommandResult> {
  const { dryRun, ofMerchants, wait, reason, merchant } = options
  const timeoutMs = durationOf(options.timeout, '--timeout')
  const client = context.client()
  const only = await merchantId(client, merchant)
  const replayed: (Delivery | AdminDelivery)[] = []
  let exit: ExitCode | undefined
  const report = (error: unknown): void => {
    if (!(error instanceof CliError)) throw error
    const code = reportError(context.io, error, { json: context.json, color: 'auto', given: context.flags })
    exit ??= code
  }
  const title = { title: dryRun ? 'Looking' : 'Replaying', unit: 'deliveries', total: args.length }
  await withProgress(context, title, async (progress) => {
    for (const [index, given] of args.entries()) {
      progress.at(index, given)
      const named = async () =>
        ofMerchants ? findDelivery(client, given, only) : { id: await ownDeliveryId(client, given) }
      try {
        const begun = await replayOne(client, await named(), { reason, dryRun })
        const { delivery, problem } =
          wait && !dryRun ? await waitForAttempt(client, begun, timeoutMs) : { delivery: begun, problem: undefined }
        replayed.push(delivery)
        progress.clear()
        if (problem !== undefined) report(problem)
      } catch (error) {
        progress.clear()
        report(error)
      }
    }
  })
  // A list has the members of a list, whatever more is known of what was waited for.
  const rows = replayed.map(
    ({ payload: _payload, attempts: _attempts, ...row }: Partial<DeliveryDetail> & Delivery) => row,
  )
  if (rows.length > 0) printDeliveries(context, rows, ofMerchants)
  if (dryRun && rows.length > 0) context.note('Nothing was changed: these would be sent again.')
  return exit
}

type BulkOptions = {
  since?: string | undefined
  until?: string | undefined
  merchant: string
  event?: EventType | undefined
  reason?: string | undefined
  dryRun: boolean
}

async function replayAllOwn(
  context: Context,
  options: Omit<BulkOptions, 'merchant' | 'reason'>,
): Promise<CommandResult> {
  const { from: since, to: until } = rangeOf(options)
  const body = { status: 'DEAD' as const, dry_run: options.dryRun, since, until, event_type: options.event }
  const { body: counted } = await call(context.client(), replayWebhooks, { body })
  const { matching, queued, has_more: hasMore } = counted
  const { dryRun } = options
  printCount(context, { matching, queued, dryRun, more: { ...counted, dry_run: dryRun } })
  if (!dryRun && hasMore) context.note(MORE)
  else if (queued > 0) context.note('They are spread over some time. To watch them: svc webhooks list --follow')
}

const MORE = 'There are more: the same command again'

/** How many go by between two progress messages. */
const NOTED_EVERY = 100

/** All of a merchant's that are dead when it begins, the oldest first: each a replay of its own in the audit trail. */
async function replayAllOfMerchant(context: Context, options: BulkOptions): Promise<CommandResult> {
  const { event, reason, dryRun } = options
  const { from, to } = rangeOf(options)
  const client = context.client()
  const { merchant } = await findMerchant(client, options.merchant)
  const filter = { merchant_id: merchant.id, status: 'DEAD' as const, event_type: event }
  const read = pagesIn(client, listOutbox, { query: filter })
  const { items, nextCursor } = await collectPages({ limit: '100', all: true }, read)
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
        if (!progress.isShown && queued > 0 && queued % NOTED_EVERY === 0)
          progress.note(`${queued} of ${dead.length} so far`)
      }
    })
  } finally {
    printCount(context, { matching: dead.length, queued, dryRun })
  }
  if (!dryRun && nextCursor !== null) context.note(MORE)
}

type Count = { matching: number; queued: number; dryRun: boolean; more?: object }

function printCount(context: Context, { matching, queued, dryRun, more }: Count): void {
  context.print.record(
    more ?? { matching, replayed: queued, dry_run: dryRun },
    [
      ['Dead', String(matching)],
      [dryRun ? 'Would be sent again' : 'Sent again', String(dryRun ? matching : queued)],
    ],
    { id: String(queued) },
  )
  if (dryRun) context.note('Nothing was changed.')
}
