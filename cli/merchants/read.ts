import { z } from 'zod'
import { KybStatus, listMerchants } from '../../src/wire/admin.ts'
import type { ListedMerchant } from '../../src/wire/admin.ts'
import type { OperationInput } from '../../src/wire/operation.ts'
import { Registration, listRegistrations } from '../../src/wire/registration.ts'
import { call } from '../client/call.ts'
import { Paging } from '../kit/paging.ts'
import type { Client } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { findMerchant } from './find.ts'
import { collectPages } from '../client/pages.ts'
import { dayOf, shortTime } from '../base/text.ts'
import { printMerchant, printMerchants } from './view.ts'

/** The filters of the list and of the export. */
export const FilterFields = z.object({
  status: KybStatus.optional(),
  held: z.boolean().default(false),
  disabled: z.boolean().default(false),
  search: z.string().optional(),
  order: z.enum(['newest', 'oldest']).optional(),
})
export const ListOptions = Paging.extend({ ...FilterFields.shape, deliveries: z.boolean().default(false) })

type Filter = Omit<NonNullable<OperationInput<typeof listMerchants>['query']>, 'limit' | 'cursor'>

export async function list(
  context: Context,
  { options }: CommandInput<z.infer<typeof ListOptions>>,
): Promise<CommandResult> {
  const { deliveries } = options
  const filter = { ...filterOf(options), ...(deliveries ? { include: 'recent_deliveries' as const } : {}) }
  const found = await merchantsOf(context.client(), filter, options)
  printMerchants(context, { ...found, deliveries, empty: 'There are no such merchants.' })
  return undefined
}

export function filterOf({ status, held, disabled, search, order }: z.infer<typeof FilterFields>): Filter {
  return {
    ...(status === undefined ? {} : { kyb_status: status }),
    ...(held ? { payout_held: 'true' } : {}),
    ...(disabled ? { is_active: 'false' } : {}),
    ...(search === undefined ? {} : { search }),
    ...(order === undefined ? {} : { order }),
  }
}

/** The merchants that a filter leaves, by the paging options of the command. */
export async function merchantsOf(
  client: Client,
  filter: Filter,
  paging: Paging,
): Promise<{ items: ListedMerchant[]; nextCursor: string | null }> {
  return collectPages(paging, async (page) => {
    return (await call(client, listMerchants, { query: { ...filter, ...page } })).body
  })
}

export async function show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const { merchant } = await findMerchant(context.client(), args)
  printMerchant(context, merchant)
  return undefined
}

export async function registrations(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  const { body } = await call(context.client(), listRegistrations, {})
  context.print.list({
    items: body.data,
    fields: Object.keys(Registration.shape),
    columns: [
      { title: 'realm', value: (row) => row.slug },
      { title: 'status', value: (row) => row.status },
      { title: 'company', value: (row) => row.company_name, dropped: 1, least: 12 },
      { title: 'administrator', value: (row) => row.admin_email, dropped: 3, least: 16 },
      { title: 'begun', value: (row) => shortTime(row.created_at), short: dayOf, dropped: 2 },
      { title: 'problems', value: (row) => row.problems.join('; '), least: 24 },
    ],
    id: (row) => row.slug,
    empty: 'No registration needs a hand.',
  })
  return undefined
}
