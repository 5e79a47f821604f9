import { z } from 'zod'
import { DeliveryStatus, listWebhooks } from '../../src/wire/webhooks.ts'
import { EventType } from '../../src/wire/webhook-events.ts'
import { call } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { warn } from '../kit/warn.ts'
import { paymentId } from '../payments/read.ts'
import { ownDelivery, ownDeliveryId } from './find.ts'
import { warnIfPaused } from './paused.ts'
import { REJECTED, outcomeFor } from './rejected.ts'
import { printDeliveries, printDelivery, warnOf } from './view.ts'

export const ListOptions = z.object({
  status: DeliveryStatus.optional(),
  event: EventType.optional(),
  payment: z.string().optional(),
})

export async function list(
  context: Context,
  { options }: CommandInput<z.infer<typeof ListOptions>>,
): Promise<CommandResult> {
  const client = context.client()
  const { status, event, payment } = options
  const query = {
    ...(status === undefined ? {} : { status }),
    ...(event === undefined ? {} : { event_type: event }),
    ...(payment === undefined ? {} : { payment_id: await paymentId(client, [payment]) }),
  }
  const { body } = await call(client, listWebhooks, { query })
  printDeliveries(context, body.data)
  warnOf(context, body.alert)
  await warnIfPaused(context, client)
  return undefined
}

/** `svc webhooks show`: one delivery whole. With `-q payload` the exact text of it, for verifying its signature. */
export async function show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const client = context.client()
  const delivery = await ownDelivery(client, await ownDeliveryId(client, args[0]))
  printDelivery(context, { delivery, withPayload: true })
  if (delivery.last_error === REJECTED && delivery.status !== 'DELIVERED' && !context.json)
    warn(context, await outcomeFor(client, REJECTED), 'svc secret show')
  return undefined
}
