import { z } from 'zod'
import { DeliveryStatus, listOutbox, listWebhooks } from '../../src/wire/webhooks.ts'
import type { AdminDelivery } from '../../src/wire/webhooks.ts'
import { EventType } from '../../src/wire/webhook-events.ts'
import { usageError } from '../base/errors.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import { call } from '../client/call.ts'
import type { PageReader } from '../client/pages.ts'
import { findPayment, paymentId } from '../payments/find.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { FollowOptions, followTime } from '../kit/follow.ts'
import { Paging, listPages } from '../kit/paging.ts'
import { warn } from '../kit/warn.ts'
import { merchantId } from '../merchants/find.ts'
import { MerchantScope } from '../merchants/whose.ts'
import { ownDelivery, ownDeliveryId } from './find.ts'
import { warnIfPaused } from './endpoint.ts'
import { followDeliveries } from './follow.ts'
import { REJECTED, outcomeFor } from './wait.ts'
import { printDeliveries, printDelivery, warnOf } from './view.ts'

export const ListOptions = Paging.extend({
  status: DeliveryStatus.optional(),
  event: EventType.optional(),
  payment: z.string().optional(),
  ...MerchantScope.shape,
  ...FollowOptions.shape,
})
type ListOptions = z.infer<typeof ListOptions>

/** `svc webhooks list`: a merchant's own last 50, or those of all merchants page by page. */
export async function list(context: Context, { options }: CommandInput<ListOptions>): Promise<CommandResult> {
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
export async function show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const client = context.client()
  const delivery = await ownDelivery(client, await ownDeliveryId(client, args[0]))
  printDelivery(context, { delivery, withPayload: true })
  if (delivery.last_error === REJECTED && delivery.status !== 'DELIVERED' && !context.json) {
    const { text, hint } = outcomeFor(REJECTED)
    warn(context, text, hint)
  }
}
