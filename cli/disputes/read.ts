import { z } from 'zod'
import { DisputeStatus, listAdminDisputes } from '../../src/wire/disputes.ts'
import type { listDisputes } from '../../src/wire/disputes.ts'
import type { OperationInput } from '../../src/wire/operation.ts'
import { call } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { findMerchant } from '../merchants/find.ts'
import { collectPages } from '../client/pages.ts'
import { TimeRange, rangeOf } from '../kit/time-range.ts'
import { anyPaymentId, findAdminDispute } from './find.ts'
import { printDisputes } from './rows.ts'
import { printDispute } from './view.ts'
import { Paging } from '../kit/paging.ts'

export const ListOptions = Paging.extend({
  status: DisputeStatus.optional(),
  payment: z.string().optional(),
  ...TimeRange.shape,
  order: z.enum(['newest', 'oldest']).optional(),
})
export const AdminListOptions = ListOptions.extend({ merchant: z.string().optional() })

type Filter = Omit<NonNullable<OperationInput<typeof listDisputes>['query']>, 'limit' | 'cursor' | 'payment_id'>

/**
 * The filters that both lists have, but for the payment: each finds that in its own way.
 * @throws {CliError} for a time that is none
 */
export function filterOf({ status, order, ...range }: z.infer<typeof ListOptions>): Filter {
  return {
    ...(status === undefined ? {} : { status }),
    ...(order === undefined ? {} : { order }),
    ...rangeOf(range),
  }
}

export async function list(
  context: Context,
  { options }: CommandInput<z.infer<typeof AdminListOptions>>,
): Promise<CommandResult> {
  const client = context.client()
  const { payment, merchant } = options
  const filter = {
    ...filterOf(options),
    ...(merchant === undefined ? {} : { merchant_id: (await findMerchant(client, [merchant])).merchant.id }),
    ...(payment === undefined ? {} : { payment_id: await anyPaymentId(client, payment) }),
  }
  const found = await collectPages(options, async (page) => {
    return (await call(client, listAdminDisputes, { query: { ...filter, ...page } })).body
  })
  printDisputes(context, { ...found, isForOperators: true })
  return undefined
}

export async function show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  printDispute(context, (await findAdminDispute(context.client(), args)).dispute)
  return undefined
}
