import type { Command } from 'commander'
import type { z } from 'zod'
import { setPayoutHold } from '../../src/wire/admin.ts'
import { ChangeOptions, Reason, change, changing, dangerous } from '../change.ts'
import { action } from '../context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../context.ts'
import { findMerchant } from '../find-merchant.ts'
import { aboutMerchant, paged } from './merchants.ts'
import { namesOf } from './merchants/change.ts'
import { Paging, merchantsOf } from './merchants/read.ts'
import { printMerchant, printMerchants } from './merchants/view.ts'

const HoldOptions = ChangeOptions.extend({ reason: Reason })
type HoldInput = CommandInput<z.infer<typeof HoldOptions>>

/** `svc hold`: payouts of a merchant, held and released (decision 20). */
export function addHold(program: Command, runtime: Runtime): void {
  const hold = program
    .command('hold')
    .helpCommand(false)
    .description("hold merchants' payouts, and release them")
    .addHelpText('after', '\nExamples:\n  svc hold set acme-ltd --reason "under investigation"\n')
  dangerous(aboutMerchant(hold.command('set')))
    .description("hold a merchant's payouts; while held it creates no payments, and refunds go on")
    .requiredOption('--reason <text>', 'why; it stands in the audit trail')
    .addHelpText('after', '\nExamples:\n  svc hold set acme-ltd --reason "under investigation"\n')
    .action(action(runtime, HoldOptions, (context, input) => setHold(context, input, true)))
  changing(aboutMerchant(hold.command('release')))
    .description("release a merchant's payouts")
    .requiredOption('--reason <text>', 'why; it stands in the audit trail')
    .addHelpText('after', '\nExamples:\n  svc hold release acme-ltd --reason "cleared"\n')
    .action(action(runtime, HoldOptions, (context, input) => setHold(context, input, false)))
  paged(hold.command('list').description('list merchants whose payouts are held'))
    .addHelpText('after', '\nExamples:\n  svc hold list\n  svc hold list -o id\n')
    .action(action(runtime, Paging, list))
}

async function setHold(context: Context, { args, options }: HoldInput, isHeld: boolean): Promise<CommandResult> {
  const client = context.client()
  const { merchant, isExact } = await findMerchant(client, args)
  const isDone = merchant.payout_held === isHeld
  if (isDone) context.note(`The payouts of ${merchant.trading_name} are ${isHeld ? 'held already' : 'not held'}.`)
  const what = `hold the payouts of ${merchant.trading_name}: it can create no payments`
  const changed = await change(context, client, setPayoutHold, {
    input: { params: { id: merchant.id }, body: { payout_held: isHeld, reason: options.reason } },
    options,
    ...(isHeld && !isDone ? { danger: { what, words: namesOf(merchant), isExact, yes: options.yes } } : {}),
  })
  if (changed !== undefined) printMerchant(context, changed)
  return undefined
}

async function list(context: Context, { options }: CommandInput<Paging>): Promise<CommandResult> {
  const found = await merchantsOf(context.client(), { payout_held: 'true' }, options)
  printMerchants(context, { ...found, empty: 'No payouts are held.' })
  return undefined
}
