import type { Command } from 'commander'
import { AdminMerchant, getMerchant } from '../../src/wire/admin.ts'
import { addActions } from '../kit/action-command.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { HOLD_ACTIONS } from './actions.ts'
import { dayOf, endOfId, shortTime } from '../base/text.ts'
import { Paging, paged } from '../kit/paging.ts'
import { merchantsOf } from './read.ts'

/** `svc hold`: payouts and new payments of a merchant, held and released (decision 20). */
export function addHold(hold: Command, runtime: Runtime): void {
  hold.addHelpText('after', '\nExamples:\n  svc hold set acme-ltd --reason "under investigation"\n')
  addActions(hold, runtime, HOLD_ACTIONS)
  paged(hold.command('list').description('List held merchants with reasons'))
    .addHelpText('after', '\nExamples:\n  svc hold list\n  svc hold list -o id\n')
    .action(action(runtime, Paging, list))
}

async function list(context: Context, { options }: CommandInput<Paging>): Promise<CommandResult> {
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
  return undefined
}

/** Why the payouts are held: what was said last, among the last things that operators did to the merchant. */
async function reasonOf(client: Client, id: string): Promise<string> {
  const { body } = await call(client, getMerchant, { params: { id } })
  const hold = body.actions.find(
    ({ action: name, after }) => name === 'merchant.hold' && after?.['payout_held'] === true,
  )
  return hold?.reason ?? ''
}
