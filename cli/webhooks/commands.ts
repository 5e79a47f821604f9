import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { EventType } from '../../src/wire/webhook-events.ts'
import { DeliveryStatus, listOutbox, listWebhooks } from '../../src/wire/webhooks.ts'
import type { AdminDelivery } from '../../src/wire/webhooks.ts'
import { usageError } from '../base/errors.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import { call } from '../client/call.ts'
import type { PageReader } from '../client/pages.ts'
import { addActions } from '../kit/action-command.ts'
import { changing } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { Runtime, CommandInput, CommandResult, Context } from '../kit/context.ts'
import { followable, FollowOptions, followTime } from '../kit/follow.ts'
import { subcommand } from '../kit/option-values.ts'
import { paged, withTimeRange, Paging, listPages } from '../kit/paging.ts'
import { warn } from '../kit/warn.ts'
import { merchantId } from '../merchants/find.ts'
import { ofMerchants, MerchantScope } from '../merchants/whose.ts'
import { findPayment, paymentId } from '../payments/find.ts'
import { ENDPOINT_ACTIONS, TEST_ACTIONS } from './endpoint-actions.ts'
import { checkEndpoint, getEndpoint, warnIfPaused } from './endpoint.ts'
import { ownDelivery, ownDeliveryId } from './find.ts'
import { followDeliveries } from './follow.ts'
import { ReplayOptions, replay } from './replay.ts'
import { printDeliveries, printDelivery, warnOf } from './view.ts'
import { REJECTED, outcomeFor } from './wait.ts'

/** `svc webhooks`: where they go, what became of them, and how a receiver proves where they come from. */
export function addWebhooks(webhooks: Command, runtime: Runtime): void {
  addEndpoint(webhooks, runtime)
  addDeliveries(webhooks, runtime)
  addSending(webhooks, runtime)
}

function addDeliveries(webhooks: Command, runtime: Runtime): void {
  const listing = webhooks
    .command('list')
    .description('List webhook deliveries, newest first')
    .optionsGroup('Filters:')
    .addOption(new Option('--status <status>', 'Filter by status').choices(DeliveryStatus.options))
    .addOption(new Option('--event <event>', 'Filter by event').choices(EventType.options))
    .option('--payment <id>', 'Filter by payment')
  followable(paged(ofMerchants(listing)), 'Follow new deliveries and their changes, newest last')
    .addHelpText(
      'after',
      "\nShows the merchant's own last 50 deliveries, or those of all merchants with --all-merchants.\n\nExamples:\n  svc webhooks list --status DEAD\n  svc webhooks list --payment a2b4358c -o jsonl\n  svc webhooks list --all-merchants --status DEAD\n  svc webhooks list --follow --limit 10\n",
    )
    .action(action(runtime, ListOptions, list))
  subcommand(webhooks, 'show', 'Show a delivery, its attempts and their responses')
    .argument('<delivery>', 'Delivery id, from svc webhooks list, or its last 8 characters')
    .addHelpText(
      'after',
      '\nExamples:\n  svc webhooks show a2b4358c\n  svc webhooks show a2b4358c -q payload        the exact text, as it is signed\n',
    )
    .action(action(runtime, z.object({}), show))
}

function addSending(webhooks: Command, runtime: Runtime): void {
  addActions(webhooks, runtime, TEST_ACTIONS)
  const replaying = changing(
    subcommand(webhooks, 'replay', 'Replay dead webhook deliveries'),
    'Show what would be replayed, and change nothing',
  )
    .argument('[ids...]', 'Delivery ids, from svc webhooks list, or their last 8 characters')
    .optionsGroup('All of a time, in one request:')
    .addOption(new Option('--status <status>', 'Replay all deliveries in this status').choices(['DEAD']))
  withTimeRange(replaying, 'Created')
    .addOption(new Option('--event <event>', 'Filter by event').choices(EventType.options))
    .optionsGroup('How:')
    .option('--wait', 'Wait for the responses to named deliveries; exit code 3 unless all are 2xx')
    .option('--timeout <duration>', 'Maximum time to wait for each', '30s')
  ofMerchants(replaying)
    .option('--reason <text>', 'Reason, recorded in the audit trail')
    .addHelpText(
      'after',
      '\nExamples:\n  svc webhooks replay a2b4358c --wait\n  svc webhooks replay --status DEAD --since 2h --dry-run\n  svc webhooks replay --status DEAD --event payment.settled\n  svc webhooks replay --status DEAD --merchant acme-ltd --reason "their server is back"\n',
    )
    .action(action(runtime, ReplayOptions, replay))
}

function addEndpoint(webhooks: Command, runtime: Runtime): void {
  const endpoint = webhooks.command('endpoint').helpCommand(false).description('Manage the webhook endpoint')
  subcommand(endpoint, 'show', 'Show the endpoint and whether it is paused')
    .addHelpText('after', '\nExamples:\n  svc webhooks endpoint show\n  svc webhooks endpoint show -q webhook_url\n')
    .action(action(runtime, z.object({}), getEndpoint))
  addActions(webhooks, runtime, ENDPOINT_ACTIONS)
  subcommand(endpoint, 'check', 'Check whether the endpoint answers')
    .addHelpText(
      'after',
      '\nSends no event. Exit code 3 if the endpoint does not answer.\n\nExamples:\n  svc webhooks endpoint check\n',
    )
    .action(action(runtime, z.object({}), checkEndpoint))
}

const ListOptions = Paging.extend({
  status: DeliveryStatus.optional(),
  event: EventType.optional(),
  payment: z.string().optional(),
  ...MerchantScope.shape,
  ...FollowOptions.shape,
})
type ListOptions = z.infer<typeof ListOptions>

/** `svc webhooks list`: a merchant's own last 50, or those of all merchants page by page. */
async function list(context: Context, { options }: CommandInput<ListOptions>): Promise<CommandResult> {
  followTime(options)
  const client = context.client()
  const { status, event, merchant, allMerchants, follow } = options
  const filter = { status, event_type: event }
  if (await meansAllMerchants(client, allMerchants || merchant !== undefined)) {
    if (follow) throw usageError("--follow is for a merchant's own deliveries", 'svc listen --all-merchants')
    return listOfMerchants(context, filter, options)
  }
  if (options.all || options.cursor !== undefined)
    throw usageError("a merchant's own are the last 50: --all and --cursor are for those of all merchants")
  const payment_id = options.payment && (await paymentId(client, [options.payment]))
  const query = { ...filter, payment_id }
  if (follow) return followDeliveries(context, { query, limit: options.limit, options })
  const { body } = await call(client, listWebhooks, { query })
  printDeliveries(context, body.data.slice(0, Number.parseInt(options.limit, 10)))
  warnOf(context, body.alert)
  await warnIfPaused(context, client)
}

type Filter = { status?: DeliveryStatus | undefined; event_type?: EventType | undefined }

async function listOfMerchants(context: Context, filter: Filter, options: ListOptions): Promise<CommandResult> {
  const client = context.client()
  const { merchant, payment } = options
  const payment_id = payment && (await findPayment(client, payment, 'platform'))
  const query = { ...filter, merchant_id: await merchantId(client, merchant), payment_id }
  const read: PageReader<AdminDelivery> = async (page) =>
    (await call(client, listOutbox, { query: { ...query, ...page } })).body
  await listPages(context, options, read, (rows) => printDeliveries(context, rows, true))
}

/** `svc webhooks show`: one delivery whole. With `-q payload` the exact text of it, for verifying its signature. */
async function show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const client = context.client()
  const delivery = await ownDelivery(client, await ownDeliveryId(client, args[0]))
  printDelivery(context, { delivery, withPayload: true })
  if (delivery.last_error === REJECTED && delivery.status !== 'DELIVERED' && !context.json) {
    const { text, hint } = outcomeFor(REJECTED)
    warn(context, text, hint)
  }
}
