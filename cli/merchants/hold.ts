import type { Command } from 'commander'
import type { z } from 'zod'
import { AdminMerchant, getMerchant, setPayoutHold } from '../../src/wire/admin.ts'
import { ChangeOptions, Reason, change, changing, dangerous } from '../kit/change.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { findMerchant } from './find.ts'
import { dayOf, endOfId, shortTime } from '../base/text.ts'
import { aboutMerchant, paged } from './commands.ts'
import { namesOf } from './change.ts'
import { Paging, merchantsOf } from './read.ts'
import { printMerchant } from './view.ts'

/** What a hold means, and its end: in the same words everywhere, the console's too. */
const HELD = 'its payouts are held, and it can create no payments until release; refunds go on'
const RELEASED = 'its payouts go on, and it can create payments again'

const HoldOptions = ChangeOptions.extend({ reason: Reason })
type HoldInput = CommandInput<z.infer<typeof HoldOptions>>

/** `svc hold`: payouts and new payments of a merchant, held and released (decision 20). */
export function addHold(hold: Command, runtime: Runtime): void {
  hold.addHelpText('after', '\nExamples:\n  svc hold set acme-ltd --reason "under investigation"\n')
  dangerous(aboutMerchant(hold.command('set')))
    .description(`hold a merchant: ${HELD}`)
    .requiredOption('--reason <text>', 'why; it stands in the audit trail')
    .addHelpText('after', '\nExamples:\n  svc hold set acme-ltd --reason "under investigation"\n')
    .action(action(runtime, HoldOptions, (context, input) => setHold(context, input, true)))
  changing(aboutMerchant(hold.command('release')))
    .description(`release a merchant: ${RELEASED}`)
    .requiredOption('--reason <text>', 'why; it stands in the audit trail')
    .addHelpText('after', '\nExamples:\n  svc hold release acme-ltd --reason "cleared"\n')
    .action(action(runtime, HoldOptions, (context, input) => setHold(context, input, false)))
  paged(hold.command('list').description('list merchants that are held, since when and why'))
    .addHelpText('after', '\nExamples:\n  svc hold list\n  svc hold list -o id\n')
    .action(action(runtime, Paging, list))
}

async function setHold(context: Context, { args, options }: HoldInput, isHeld: boolean): Promise<CommandResult> {
  const client = context.client()
  const { merchant, isExact } = await findMerchant(client, args)
  const isDone = merchant.payout_held === isHeld
  const { trading_name: name } = merchant
  if (isDone) context.note(isHeld ? `${name} is held already: ${HELD}.` : `${name} is not held.`)
  const what = `hold ${name}: ${HELD}`
  const changed = await change(context, client, setPayoutHold, {
    input: {
      params: { id: merchant.id },
      body: { payout_held: isHeld, reason: options.reason, expected: { payout_held: merchant.payout_held } },
    },
    options,
    effect: isDone
      ? 'this would change nothing'
      : `this would ${isHeld ? `hold ${name}: ${HELD}` : `release ${name}: ${RELEASED}`}`,
    ...(isHeld && !isDone ? { danger: { what, words: namesOf(merchant), isExact, yes: options.yes } } : {}),
  })
  if (changed !== undefined) printMerchant(context, changed)
  return undefined
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
