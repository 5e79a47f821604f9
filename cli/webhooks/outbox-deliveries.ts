import { z } from 'zod'
import { AdminDelivery, DeliveryStatus, listOutbox } from '../../src/wire/webhooks.ts'
import { EventType } from '../../src/wire/webhook-events.ts'
import { call } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { findMerchant } from '../merchants/find.ts'
import { collectPages } from '../client/pages.ts'
import { anyPaymentId } from '../disputes/find.ts'
import { whoseColumns } from '../merchants/whose.ts'
import { deliveryColumns } from './view.ts'
import { Paging } from '../kit/paging.ts'

export const ListOptions = Paging.extend({
  status: DeliveryStatus.optional(),
  event: EventType.optional(),
  merchant: z.string().optional(),
  payment: z.string().optional(),
})

export async function list(
  context: Context,
  { options }: CommandInput<z.infer<typeof ListOptions>>,
): Promise<CommandResult> {
  const client = context.client()
  const { status, event, merchant, payment } = options
  const filter = {
    ...(status === undefined ? {} : { status }),
    ...(event === undefined ? {} : { event_type: event }),
    ...(merchant === undefined ? {} : { merchant_id: (await findMerchant(client, [merchant])).merchant.id }),
    ...(payment === undefined ? {} : { payment_id: await anyPaymentId(client, payment) }),
  }
  const { items, nextCursor } = await collectPages(options, async (page) => {
    return (await call(client, listOutbox, { query: { ...filter, ...page } })).body
  })
  printOutbox(context, items)
  if (nextCursor !== null) context.note(`There are more: --cursor ${nextCursor}, or --all`)
  return undefined
}

/** Deliveries with whose they are. */
export function printOutbox(context: Context, items: readonly AdminDelivery[]): void {
  context.print.list({
    items,
    fields: Object.keys(AdminDelivery.shape),
    columns: deliveryColumns(whoseColumns((row: AdminDelivery) => row)),
    id: (row) => row.id,
    empty: 'There are no such deliveries.',
  })
}
