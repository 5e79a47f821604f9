import type { Command } from 'commander'
import { z } from 'zod'
import { AdminMerchant, KybStatus, getMerchant, listMerchants } from '../../src/wire/admin.ts'
import type { ListedMerchant } from '../../src/wire/admin.ts'
import type { OperationInput } from '../../src/wire/operation.ts'
import { Registration, listRegistrations } from '../../src/wire/registration.ts'
import { dayOf, endOfId, shortTime } from '../base/text.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { collectPages } from '../client/pages.ts'
import { addActions } from '../kit/action-command.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { ExportTarget, exportPages } from '../kit/export-pages.ts'
import { Paging, paged } from '../kit/paging.ts'
import { HOLD_ACTIONS } from './actions.ts'
import { findMerchant } from './find.ts'
import { printMerchant, printMerchants } from './view.ts'
import { subcommand } from '../kit/option-values.ts'

/** The filters of the list and of the export. */
const FilterFields = z.object({
  status: KybStatus.optional(),
  held: z.boolean().default(false),
  disabled: z.boolean().default(false),
  search: z.string().optional(),
  order: z.enum(['newest', 'oldest']).optional(),
})
export const ListOptions = Paging.extend({ ...FilterFields.shape, deliveries: z.boolean().default(false) })

type Filter = Omit<NonNullable<OperationInput<typeof listMerchants>['query']>, 'limit' | 'cursor'>

export async function list(context: Context, { options }: InputOf<typeof ListOptions>): Promise<CommandResult> {
  const { deliveries } = options
  const filter = { ...filterOf(options), ...(deliveries ? { include: 'recent_deliveries' as const } : {}) }
  const found = await merchantsOf(context.client(), filter, options)
  printMerchants(context, { ...found, deliveries, empty: 'There are no such merchants.' })
}

function filterOf({ status, held, disabled, search, order }: z.infer<typeof FilterFields>): Filter {
  return {
    kyb_status: status,
    ...(held ? { payout_held: 'true' } : {}),
    ...(disabled ? { is_active: 'false' } : {}),
    search,
    order,
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
}

export async function registrations(context: Context): Promise<CommandResult> {
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
}

export const ExportOptions = FilterFields.extend(ExportTarget.shape)

export async function exportMerchants(
  context: Context,
  { options }: InputOf<typeof ExportOptions>,
): Promise<CommandResult> {
  const filter = filterOf(options)
  await exportPages(context, options, {
    columns: Object.keys(AdminMerchant.shape),
    noun: 'merchant',
    instead: 'svc merchants list --all',
    read: async (client, page) => (await call(client, listMerchants, { query: { ...filter, ...page } })).body,
  })
}

/** `svc hold`: payouts and new payments of a merchant, held and released (decision 20). */
export function addHold(hold: Command, runtime: Runtime): void {
  hold.addHelpText('after', '\nExamples:\n  svc hold set acme-ltd --reason "under investigation"\n')
  addActions(hold, runtime, HOLD_ACTIONS)
  paged(subcommand(hold, 'list', 'List held merchants with reasons'))
    .addHelpText('after', '\nExamples:\n  svc hold list\n  svc hold list -o id\n')
    .action(action(runtime, Paging, listHeld))
}

async function listHeld(context: Context, { options }: CommandInput<Paging>): Promise<CommandResult> {
  const client = context.client()
  const { items, nextCursor } = await merchantsOf(client, { payout_held: 'true' }, options)
  const reasons = new Map<string, string>()
  // Programs read the merchants as any list has them; the reasons are in the audit trail and in each merchant.
  if (!context.print.isMachine) for (const { id } of items) reasons.set(id, await reasonOf(client, id))
  context.print.list({
    items,
    fields: Object.keys(AdminMerchant.shape),
    columns: [
      { title: 'id', value: (row) => row.id, short: endOfId },
      { title: 'realm', value: (row) => row.realm_slug ?? '', least: 16 },
      { title: 'name', value: (row) => row.trading_name, dropped: 2, least: 12 },
      { title: 'since', value: (row) => shortTime(row.payout_held_at), short: dayOf },
      { title: 'by', value: (row) => row.payout_held_by ?? '', dropped: 1, least: 8 },
      { title: 'reason', value: (row) => reasons.get(row.id) ?? '', least: 16 },
    ],
    id: (row) => row.id,
    empty: 'No merchant is held.',
  })
  if (nextCursor !== null) context.note(`There are more: --cursor ${nextCursor}, or --all`)
}

/** Why the payouts are held: what was said last, among the last things that operators did to the merchant. */
async function reasonOf(client: Client, id: string): Promise<string> {
  const { body } = await call(client, getMerchant, { params: { id } })
  const hold = body.actions.find(
    ({ action: name, after }) => name === 'merchant.hold' && after?.['payout_held'] === true,
  )
  return hold?.reason ?? ''
}
