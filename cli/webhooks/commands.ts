import { EventType } from '../../src/wire/webhook-events.ts'
import { DeliveryStatus, listOutbox, listWebhooks } from '../../src/wire/webhooks.ts'
import { usageError } from '../base/errors.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import { call } from '../client/call.ts'
import type { Flags } from '../kit/action.ts'
import { command, grouped, argument } from '../kit/command.ts'
import type { Input } from '../kit/command.ts'
import type { CommandResult, Context } from '../kit/context.ts'
import { following, followTime } from '../kit/follow.ts'
import { PAGING, listPages, pagesIn } from '../kit/paging.ts'
import { warn } from '../kit/warn.ts'
import { merchantId } from '../merchants/find.ts'
import { OF_MERCHANTS } from '../merchants/whose.ts'
import { findPayment, paymentId } from '../payments/find.ts'
import { ENDPOINT_ACTIONS, TEST_ACTIONS } from './endpoint-actions.ts'
import { check, show as showEndpoint, warnIfPaused } from './endpoint.ts'
import { ownDelivery, ownDeliveryId } from './find.ts'
import { followDeliveries } from './follow.ts'
import { replay } from './replay.ts'
import { printDeliveries, printDelivery, warnOf } from './view.ts'
import { REJECTED, outcomeFor } from './wait.ts'

const FLAGS = {
  ...grouped('Filters:', {
    status: { value: 'status', summary: 'Filter by status', choices: DeliveryStatus.options },
    event: { value: 'event', summary: 'Filter by event', member: 'event_type', choices: EventType.options },
    payment: { value: 'id', summary: 'Filter by payment', member: 'payment_id' },
  }),
  ...OF_MERCHANTS,
  ...PAGING,
  ...following('Follow new deliveries and their changes, newest last'),
} as const satisfies Flags
type ListOptions = Input<typeof FLAGS>

const list = command({
  command: 'webhooks list',
  summary: 'List webhook deliveries, newest first',
  details: "Shows the merchant's own last 50 deliveries, or those of all merchants with --all-merchants.",
  examples: [
    'svc webhooks list --status DEAD',
    'svc webhooks list --payment a2b4358c -o jsonl',
    'svc webhooks list --all-merchants --status DEAD',
    'svc webhooks list --follow --limit 10',
  ],
  flags: FLAGS,
  async run(context, input) {
    followTime(input)
    const client = context.client()
    const { status, event, merchant, allMerchants, follow } = input
    const filter = { status, event_type: event }
    if (await meansAllMerchants(client, allMerchants || merchant !== undefined)) {
      if (follow) throw usageError("--follow is for a merchant's own deliveries", 'svc listen --all-merchants')
      return listOfMerchants(context, filter, input)
    }
    if (input.all || input.cursor !== undefined)
      throw usageError("a merchant's own are the last 50: --all and --cursor are for those of all merchants")
    const payment_id = input.payment && (await paymentId(client, input.payment))
    const query = { ...filter, payment_id }
    if (follow) return followDeliveries(context, { query, limit: input.limit, options: input })
    const { body } = await call(client, listWebhooks, { query })
    printDeliveries(context, body.data.slice(0, Number.parseInt(input.limit, 10)))
    warnOf(context, body.alert)
    await warnIfPaused(context, client)
  },
})

type Filter = { status?: DeliveryStatus | undefined; event_type?: EventType | undefined }

async function listOfMerchants(context: Context, filter: Filter, options: ListOptions): Promise<CommandResult> {
  const client = context.client()
  const { merchant, payment } = options
  const payment_id = payment && (await findPayment(client, payment, 'platform'))
  const query = { ...filter, merchant_id: await merchantId(client, merchant), payment_id }
  await listPages(context, options, pagesIn(client, listOutbox, { query }), (rows) =>
    printDeliveries(context, rows, true),
  )
}

/** `svc webhooks show`: one delivery whole. With `-q payload` the exact text of it, for verifying its signature. */
const show = command({
  command: 'webhooks show',
  summary: 'Show a delivery, its attempts and their responses',
  examples: [
    'svc webhooks show a2b4358c',
    'svc webhooks show a2b4358c -q payload        the exact text, as it is signed',
  ],
  flags: {
    delivery: argument('delivery', 'Delivery id, from svc webhooks list, or its last 8 characters'),
  },
  async run(context, input) {
    const client = context.client()
    const delivery = await ownDelivery(client, await ownDeliveryId(client, input.delivery))
    printDelivery(context, { delivery, withPayload: true })
    if (delivery.last_error === REJECTED && delivery.status !== 'DELIVERED' && !context.json) {
      const { text, hint } = outcomeFor(REJECTED)
      warn(context, text, hint)
    }
  },
})

export const WEBHOOKS = [
  { command: 'webhooks endpoint', summary: 'Manage the webhook endpoint' },
  showEndpoint,
  ...ENDPOINT_ACTIONS,
  check,
  list,
  show,
  ...TEST_ACTIONS,
  replay,
]
