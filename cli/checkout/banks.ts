import type { Command } from 'commander'
import { z } from 'zod'
import { Bank, listBanks } from '../../src/wire/banks.ts'
import { call } from '../client/call.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'

/** `svc banks`: those that a payer can choose (decision 61). */
export function addBanks(banks: Command, runtime: Runtime): void {
  banks.addHelpText('after', '\nExamples:\n  svc banks list\n')
  banks
    .command('list')
    .description('list them, the popular ones first')
    .addHelpText(
      'after',
      '\nExamples:\n  svc banks list\n  svc payments create --amount 50.00 --currency GBP --debtor-bank-id mock-albion\n',
    )
    .action(action(runtime, z.object({}), list))
}

async function list(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  const { body } = await call(context.client(), listBanks, {})
  context.print.list({
    items: body.data,
    fields: Object.keys(Bank.shape),
    columns: [
      { title: 'id', value: (row) => row.id },
      { title: 'name', value: (row) => row.name, least: 16 },
      { title: 'popular', value: (row) => (row.popular ? 'yes' : '') },
    ],
    id: (row) => row.id,
    empty: 'There are no banks.',
  })
  return undefined
}
