import { z } from 'zod'
import { replayWebhook } from '../../src/wire/webhooks.ts'
import type { AdminDelivery, Delivery } from '../../src/wire/webhooks.ts'
import { EventType } from '../../src/wire/webhook-events.ts'
import { usageError } from '../base/errors.ts'
import type { CliError } from '../base/errors.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import { call } from '../client/call.ts'
import { makeFailures } from '../kit/batch-errors.ts'
import { Reason } from '../kit/change.ts'
import { durationOf } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { findMerchant } from '../merchants/find.ts'
import { withProgress } from '../output/progress.ts'
import { findDelivery } from './find-of-merchants.ts'
import { ownDeliveryId } from './find.ts'
import { replayAllOfMerchant, replayAllOwn, replayOfMerchant, tried } from './replay-all.ts'
import { printDeliveries, printOfMerchants } from './view.ts'
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
    throw usageError('--reason is for operators, whose replays stand in the audit trail')
  if (args.length > 0)
    return replayNamed(context, args, ofMerchants ? await ofAny(context, options) : own(context, options))
  if (!hasFilter) throw usageError('which deliveries? Give their ids, or --status DEAD', FILTERED)
  if (status === undefined) throw usageError('what is dead is replayed: say --status DEAD as well', FILTERED)
  if (wait) throw usageError('--wait is for deliveries that are named by their ids', 'svc webhooks list --follow')
  if (!ofMerchants) return replayAllOwn(context, options)
  if (merchant === undefined)
    throw usageError('whose deliveries? Those of one merchant are replayed at once', FILTERED_OF)
  return replayAllOfMerchant(context, { ...options, merchant })
}

/** How one side sends a delivery again. */
type Side<Row> = {
  dryRun: boolean
  replayOne(given: string): Promise<{ delivery: Row; problem?: CliError }>
  print(rows: readonly Row[]): void
}

/** Replays one after the other. One that is refused does not keep the others from it; its exit code is the command's. */
async function replayNamed<Row>(
  context: Context,
  args: readonly string[],
  { dryRun, replayOne, print }: Side<Row>,
): Promise<CommandResult> {
  const replayed: Row[] = []
  const failures = makeFailures(context)
  const title = { title: dryRun ? 'Looking' : 'Replaying', unit: 'deliveries', total: args.length }
  await withProgress(context, title, async (progress) => {
    for (const [index, given] of args.entries()) {
      progress.at(index, given)
      try {
        const { delivery, problem } = await replayOne(given)
        replayed.push(delivery)
        progress.clear()
        if (problem !== undefined) failures.tell(problem)
      } catch (error) {
        progress.clear()
        failures.tell(error)
      }
    }
  })
  if (replayed.length > 0) print(replayed)
  if (dryRun) context.note('Nothing was changed: these would be sent again.')
  return failures.exit()
}

function own(context: Context, { dryRun, wait, timeout }: ReplayOptions): Side<Delivery> {
  const timeoutMs = durationOf(timeout, '--timeout')
  const client = context.client()
  return {
    dryRun,
    print: (rows) => printDeliveries(context, rows),
    async replayOne(given) {
      const id = await ownDeliveryId(client, given)
      const { body: begun } = await call(client, replayWebhook, { params: { id }, query: tried(dryRun) })
      if (!wait || dryRun) return { delivery: begun }
      const { delivery, problem } = await waitForAttempt(client, begun, timeoutMs)
      return { delivery: rowOf(delivery), ...(problem === undefined ? {} : { problem }) }
    },
  }
}

async function ofAny(context: Context, { dryRun, merchant, reason }: ReplayOptions): Promise<Side<AdminDelivery>> {
  const client = context.client()
  const only = merchant === undefined ? undefined : (await findMerchant(client, [merchant])).merchant.id
  return {
    dryRun,
    print: (rows) => printOfMerchants(context, rows),
    replayOne: async (given) => ({
      delivery: await replayOfMerchant(client, await findDelivery(client, given, only), { reason, dryRun }),
    }),
  }
}

/** A list has the members of a list, whatever more is known. */
function rowOf({
  payload: _payload,
  attempts: _attempts,
  ...row
}: Delivery & { payload: string; attempts: unknown }): Delivery {
  return row
}
