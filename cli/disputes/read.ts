import { z } from 'zod'
import { DisputeStatus, listAdminDisputes, listDisputes } from '../../src/wire/disputes.ts'
import { isBoth, meansAllMerchants } from '../client/auth/acting-side.ts'
import { call } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { findMerchant } from '../merchants/find.ts'
import { collectPages } from '../client/pages.ts'
import { TimeRange, rangeOf } from '../kit/time-range.ts'
import { disputedId, findAnyDispute, findOwnDispute } from './find.ts'
import { printDisputes } from './rows.ts'
import { printDispute } from './view.ts'
import { Paging } from '../kit/paging.ts'
import { endOfId } from '../base/text.ts'

export const ShowOptions = z.object({ allMerchants: z.boolean().default(false) })

export const ListOptions = Paging.extend({
  status: DisputeStatus.optional(),
  payment: z.string().optional(),
  merchant: z.string().optional(),
  ...ShowOptions.shape,
  ...TimeRange.shape,
  order: z.enum(['newest', 'oldest']).optional(),
})

/** `svc disputes list`: the merchant's own, or those of all merchants for operators. */
export async function list(
  context: Context,
  { options }: CommandInput<z.infer<typeof ListOptions>>,
): Promise<CommandResult> {
  const client = context.client()
  const { status, order, payment, merchant, allMerchants, ...range } = options
  const isForOperators = await meansAllMerchants(client, allMerchants || merchant !== undefined)
  const side = isForOperators ? 'platform' : 'merchant'
  const filter = {
    ...(status === undefined ? {} : { status }),
    ...(order === undefined ? {} : { order }),
    ...rangeOf(range),
    ...(payment === undefined ? {} : { payment_id: await disputedId(client, payment, side) }),
  }
  const ofMerchant = merchant === undefined ? {} : { merchant_id: (await findMerchant(client, [merchant])).merchant.id }
  const found = await collectPages(options, async (page) =>
    isForOperators
      ? (await call(client, listAdminDisputes, { query: { ...filter, ...ofMerchant, ...page } })).body
      : (await call(client, listDisputes, { query: { ...filter, ...page } })).body,
  )
  printDisputes(context, { ...found, isForOperators })
  return undefined
}

/** `svc disputes show`: operators see more of it, so whoever is both looks as one. */
export async function show(
  context: Context,
  { args: [given = ''], options }: CommandInput<z.infer<typeof ShowOptions>>,
): Promise<CommandResult> {
  const client = context.client()
  if (await meansAllMerchants(client, options.allMerchants || isBoth(client))) {
    printDispute(context, await findAnyDispute(client, given))
    return undefined
  }
  const dispute = await findOwnDispute(client, given)
  printDispute(context, dispute)
  if (dispute.status === 'OPEN' && !context.print.isMachine)
    context.note(`Next: svc disputes evidence ${endOfId(dispute.id)}, or accept`)
  return undefined
}
