import { z } from 'zod'
import { DeliveryStatus, listOutbox, listWebhooks } from '../../src/wire/webhooks.ts'
import { EventType } from '../../src/wire/webhook-events.ts'
import { usageError } from '../base/errors.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { collectPages } from '../client/pages.ts'
import { findPayment } from '../payments/find.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { FollowOptions, followTime } from '../kit/follow.ts'
import { Paging } from '../kit/paging.ts'
import { warn } from '../kit/warn.ts'
import { findMerchant } from '../merchants/find.ts'
import { MerchantScope } from '../merchants/whose.ts'
import { paymentId } from '../payments/find.ts'
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
  const filter = {
    ...(status === undefined ? {} : { status }),
    ...(event === undefined ? {} : { event_type: event }),
  }
  if (await meansAllMerchants(client, allMerchants || merchant !== undefined)) {
    if (follow) throw usageError("--follow is for a merchant's own deliveries", 'svc listen --all-merchants')
    return listOfMerchants(context, filter, options)
  }
  if (options.all || options.cursor !== undefined)
    throw usageError("a merchant's own are the last 50: --all and --cursor are for those of all merchants")
  const payment = options.payment === undefined ? {} : { payment_id: await paymentId(client, [options.payment]) }
  const query = { ...filter, ...payment }
  if (follow) return followDeliveries(context, { query, limit: options.limit, options })
  const { body } = await call(client, listWebhooks, { query })
  printDeliveries(context, body.data.slice(0, Number.parseInt(options.limit, 10)))
  warnOf(context, body.alert)
  await warnIfPaused(context, client)
}

type Filter = { status?: DeliveryStatus; event_type?: EventType }

async function listOfMerchants(context: Context, filter: Filter, options: ListOptions): Promise<CommandResult> {
  const client = context.client()
  const query = { ...filter, ...(await placeOf(client, options)) }
  const { items, nextCursor } = await collectPages(options, async (page) => {
    return (await call(client, listOutbox, { query: { ...query, ...page } })).body
  })
  printDeliveries(context, items, true)
  if (nextCursor !== null) context.note(`There are more: --cursor ${nextCursor}, or --all`)
}

async function placeOf(client: Client, { merchant, payment }: ListOptions) {
  return {
    ...(merchant === undefined ? {} : { merchant_id: (await findMerchant(client, [merchant])).merchant.id }),
    ...(payment === undefined ? {} : { payment_id: await findPayment(client, payment, 'platform') }),
  }
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
