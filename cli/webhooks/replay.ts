import { z } from 'zod'
import type { AdminDelivery, Delivery, DeliveryDetail } from '../../src/wire/webhooks.ts'
import { EventType } from '../../src/wire/webhook-events.ts'
import { CliError, reportError, usageError } from '../base/errors.ts'
import type { ExitCode } from '../base/exit-codes.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import { Reason } from '../kit/change.ts'
import { durationOf } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { findMerchant } from '../merchants/find.ts'
import { withProgress } from '../output/progress.ts'
import { findDelivery, ownDeliveryId } from './find.ts'
import { replayAllOfMerchant, replayAllOwn } from './replay-all.ts'
import { replayOne } from './replay-one.ts'
import { printDeliveries } from './view.ts'
import { waitForAttempt } from './wait.ts'

export const ReplayOptions = z.object({
  status: z.literal('DEAD').optional(),
  since: z.string().optional(),
  until: z.string().optional(),
  event: EventType.optional(),
  merchant: z.string().optional(),
  allMerchants: z.boolean().default(false),
  reason: Reason.optional(),
  dryRun: z.boolean().default(false),
  wait: z.boolean().default(false),
  timeout: z.string(),
})
export type ReplayOptions = z.infer<typeof ReplayOptions>

const FILTERED = 'svc webhooks replay --status DEAD --since 2h'
const FILTERED_OF = 'svc webhooks replay --status DEAD --merchant <merchant> --since 2h --reason "..."'

/**
 * `svc webhooks replay`: those that are named, or with `--status DEAD` all of a time (decision 26): a merchant's own in
 * one request; an operator's one after the other, each an entry of the audit trail.
 */
export async function replay(context: Context, { args, options }: CommandInput<ReplayOptions>): Promise<CommandResult> {
  const { status, since, until, event, merchant, reason, wait } = options
  const hasFilter = [status, since, until, event].some((option) => option !== undefined)
  if (args.length > 0 && hasFilter) throw usageError('give either ids, or --status DEAD with its filters')
  const ofMerchants = await meansAllMerchants(context.client(), options.allMerchants || merchant !== undefined)
  if (ofMerchants && wait) throw usageError("--wait is for a merchant's own deliveries", 'svc webhooks list')
  if (!ofMerchants && reason !== undefined)
    throw usageError('--reason is for operators, whose replays stand in the audit trail: --all-merchants')
  if (args.length > 0) return replayNamed(context, args, { ...options, ofMerchants })
  if (!hasFilter) throw usageError('which deliveries? Give their ids, or --status DEAD', FILTERED)
  if (status === undefined) throw usageError('what is dead is replayed: say --status DEAD as well', FILTERED)
  if (wait) throw usageError('--wait is for deliveries that are named by their ids', 'svc webhooks list --follow')
  if (!ofMerchants) return replayAllOwn(context, options)
  if (merchant === undefined)
    throw usageError('whose deliveries? Those of one merchant are replayed at once', FILTERED_OF)
  return replayAllOfMerchant(context, { ...options, merchant })
}

/** Replays one after the other. One that is refused does not keep the others from it; its exit code is the command's. */
async function replayNamed(
  context: Context,
  args: readonly string[],
  options: ReplayOptions & { ofMerchants: boolean },
): Promise<CommandResult> {
  const { dryRun, ofMerchants, wait, reason, merchant } = options
  const timeoutMs = durationOf(options.timeout, '--timeout')
  const client = context.client()
  const only = merchant === undefined ? undefined : (await findMerchant(client, [merchant])).merchant.id
  const replayed: (Delivery | AdminDelivery)[] = []
  let exit: ExitCode | undefined
  const tell = (error: unknown): void => {
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
        if (problem !== undefined) tell(problem)
      } catch (error) {
        progress.clear()
        tell(error)
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
