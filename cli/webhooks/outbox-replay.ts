import { z } from 'zod'
import { replayForMerchant } from '../../src/wire/webhooks.ts'
import type { AdminDelivery } from '../../src/wire/webhooks.ts'
import { EventType } from '../../src/wire/webhook-events.ts'
import { ChangeOptions, Reason } from '../kit/change.ts'
import type { Client } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { CliError, usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { makeFailures } from '../kit/batch-errors.ts'
import { withProgress } from '../output/progress.ts'
import { findMerchant } from '../merchants/find.ts'
import { urlOf } from '../client/build-request.ts'
import { printOutbox } from './outbox-deliveries.ts'
import { findDelivery } from './outbox-find.ts'
import type { FoundDelivery } from './outbox-find.ts'
import { replayAll } from './outbox-replay-all.ts'
import { replayOne } from './outbox-replay-one.ts'

export const ReplayOptions = ChangeOptions.pick({ dryRun: true }).extend({
  merchant: z.string().optional(),
  status: z.literal('DEAD').optional(),
  since: z.string().optional(),
  until: z.string().optional(),
  event: EventType.optional(),
  reason: Reason.optional(),
})
type ReplayOptions = z.infer<typeof ReplayOptions>

const FILTERED = 'svc outbox replay --status DEAD --merchant <merchant> --since 2h --reason "..."'

/** `svc outbox replay`: those that are named, or with `--status DEAD` a merchant's of a time. */
export async function replay(context: Context, { args, options }: CommandInput<ReplayOptions>): Promise<CommandResult> {
  const { status, since, until, event, merchant } = options
  const hasFilter = [status, since, until, event].some((option) => option !== undefined)
  if (args.length > 0 && hasFilter) throw usageError('give either deliveries, or --status DEAD with its filters')
  if (args.length > 0) return replayNamed(context, args, options)
  if (!hasFilter)
    throw usageError('which deliveries? Give their ids, or --status DEAD', 'svc outbox list --status DEAD')
  if (status === undefined) throw usageError('what is dead is replayed: say --status DEAD as well', FILTERED)
  if (merchant === undefined) throw usageError('whose deliveries? Those of one merchant are replayed at once', FILTERED)
  return replayAll(context, { ...options, merchant })
}

/** Replays one after the other. One that is refused does not keep the others from it; its exit code is the command's. */
async function replayNamed(context: Context, args: readonly string[], options: ReplayOptions): Promise<CommandResult> {
  const client = context.client()
  const merchantId =
    options.merchant === undefined ? undefined : (await findMerchant(client, [options.merchant])).merchant.id
  const failures = makeFailures(context)
  const replayed: AdminDelivery[] = []
  const planned: FoundDelivery[] = []
  const title = { title: options.dryRun ? 'Looking' : 'Replaying', unit: 'deliveries', total: args.length }
  await withProgress(context, title, async (progress) => {
    for (const [index, given] of args.entries()) {
      progress.at(index, given)
      try {
        const found = await findDelivery(client, given, merchantId)
        if (options.dryRun) planned.push(mustBeDead(found))
        else replayed.push(await replayOne(client, found, options.reason))
      } catch (error) {
        progress.clear()
        failures.tell(error)
      }
    }
  })
  if (planned.length > 0) printPlanned(context, client, planned)
  if (replayed.length > 0) printOutbox(context, replayed)
  return failures.exit()
}

/** Refused where the service would refuse it. */
function mustBeDead(found: FoundDelivery): FoundDelivery {
  const { id, status } = found
  if (status === 'DEAD') return found
  throw new CliError('DELIVERY_NOT_DEAD', `the delivery ${id} is ${status}; only a DEAD one is sent again`, {
    exit: EXIT.conflict,
    hint: `svc explain ${id} --platform`,
  })
}

function printPlanned(context: Context, client: Client, planned: readonly FoundDelivery[]): void {
  context.print.list({
    items: planned.map(({ id, merchantId }) => ({
      dry_run: true,
      id,
      merchant_id: merchantId,
      method: replayForMerchant.method,
      url: urlOf(client, replayForMerchant, { params: { id: merchantId, deliveryId: id }, body: {} }),
    })),
    fields: ['dry_run', 'id', 'merchant_id', 'method', 'url'],
    columns: [
      { title: 'id', value: (row) => row.id },
      { title: 'would send', value: (row) => `${row.method} ${row.url}`, least: 20 },
    ],
    id: (row) => row.id,
    empty: '',
  })
  context.note('Nothing was changed.')
}
