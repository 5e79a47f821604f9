import { z } from 'zod'
import { replayWebhook, replayWebhooks } from '../../src/wire/webhooks.ts'
import type { Delivery } from '../../src/wire/webhooks.ts'
import { EventType } from '../../src/wire/webhook-events.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { durationOf } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { CliError, usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { makeFailures } from '../kit/batch-errors.ts'
import { withProgress } from '../output/progress.ts'
import { TimeRange, rangeOf } from '../kit/time-range.ts'
import { ownDelivery, ownDeliveryId } from './find.ts'
import { printDeliveries } from './view.ts'
import { waitForAttempt } from './wait.ts'

export const ReplayOptions = z.object({
  status: z.literal('DEAD').optional(),
  ...TimeRange.shape,
  event: EventType.optional(),
  dryRun: z.boolean().default(false),
  wait: z.boolean().default(false),
  timeout: z.string(),
})
type ReplayOptions = z.infer<typeof ReplayOptions>

/** `svc webhooks replay`: those that are named, or with `--status DEAD` all of a time in one request (decision 26). */
export async function replay(context: Context, { args, options }: CommandInput<ReplayOptions>): Promise<CommandResult> {
  const { status, since, until, event, wait } = options
  const hasFilter = [status, since, until, event].some((option) => option !== undefined)
  if (!hasFilter) return replayNamed(context, { args, options })
  if (args.length > 0) throw usageError('give either ids, or --status DEAD with its filters')
  if (status === undefined) throw usageError('what is dead is replayed: say --status DEAD as well', FILTERED)
  if (wait) throw usageError('--wait is for deliveries that are named by their ids', 'svc webhooks tail')
  return replayAll(context, options)
}

const FILTERED = 'svc webhooks replay --status DEAD --since 2h'

async function replayAll(context: Context, options: ReplayOptions): Promise<CommandResult> {
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
  context.print.record({
    item: { ...counted, dry_run: options.dryRun },
    id: String(queued),
    lines: [
      ['Dead', String(matching)],
      [options.dryRun ? 'Would be sent again' : 'Sent again', String(options.dryRun ? matching : queued)],
    ],
  })
  if (options.dryRun) context.note('Nothing was changed.')
  else if (hasMore) context.note('There are more: the same command again')
  else if (queued > 0) context.note('They are spread over some time. To watch them: svc webhooks tail')
  return undefined
}

/** Replays one after the other. One that is refused does not keep the others from it; its exit code is the command's. */
async function replayNamed(context: Context, { args, options }: CommandInput<ReplayOptions>): Promise<CommandResult> {
  if (args.length === 0) throw usageError('which deliveries? Give their ids, or --status DEAD', FILTERED)
  const timeoutMs = durationOf(options.timeout, '--timeout')
  const client = context.client()
  const replayed: Delivery[] = []
  const failures = makeFailures(context)
  const title = { title: options.dryRun ? 'Looking' : 'Replaying', unit: 'deliveries', total: args.length }
  await withProgress(context, title, async (progress) => {
    for (const [index, given] of args.entries()) {
      progress.at(index, given)
      try {
        const { delivery, problem } = await replayOne(client, given, { ...options, timeoutMs })
        replayed.push(delivery)
        progress.clear()
        if (problem !== undefined) failures.tell(problem)
      } catch (error) {
        progress.clear()
        failures.tell(error)
      }
    }
  })
  if (replayed.length > 0) printDeliveries(context, replayed)
  if (options.dryRun) context.note('Nothing was changed: these would be sent again.')
  return failures.exit()
}

type One = { delivery: Delivery; problem?: CliError }

async function replayOne(
  client: Client,
  given: string,
  { dryRun, wait, timeoutMs }: Pick<ReplayOptions, 'dryRun' | 'wait'> & { timeoutMs: number },
): Promise<One> {
  const id = await ownDeliveryId(client, given)
  if (dryRun) return { delivery: await planned(client, id) }
  const { body: begun } = await call(client, replayWebhook, { params: { id } })
  if (!wait) return { delivery: begun }
  const { delivery, problem } = await waitForAttempt(client, begun, timeoutMs)
  return { delivery: rowOf(delivery), ...(problem === undefined ? {} : { problem }) }
}

/** What would be replayed, refused where the service would refuse it. */
async function planned(client: Client, id: string): Promise<Delivery> {
  const delivery = await ownDelivery(client, id)
  if (delivery.status === 'DEAD') return rowOf(delivery)
  throw new CliError('DELIVERY_NOT_DEAD', `the delivery ${id} is ${delivery.status}; only a DEAD one is sent again`, {
    exit: EXIT.conflict,
    hint: `svc webhooks show ${id}`,
  })
}

/** A list has the members of a list, whatever more is known. */
function rowOf({
  payload: _payload,
  attempts: _attempts,
  ...row
}: Delivery & { payload: string; attempts: unknown }): Delivery {
  return row
}
