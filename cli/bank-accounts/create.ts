import { z } from 'zod'
import { addBankAccount } from '../../src/wire/bank-accounts.ts'
import { ChangeOptions, change, tried } from '../kit/change.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { call } from '../client/call.ts'
import { urlOf } from '../client/build-request.ts'
import { readNumbers } from './numbers.ts'
import { printAccount } from './view.ts'

export const CreateOptions = ChangeOptions.extend({ holder: z.string(), stdin: z.boolean().default(false) })

export async function create(
  context: Context,
  { options }: CommandInput<z.infer<typeof CreateOptions>>,
): Promise<CommandResult> {
  const { holder } = options
  if (options.dryRun && !options.stdin) return tellAddition(context, holder)
  const numbers = await readNumbers(context.io, options)
  if (options.dryRun) {
    const body = { account_holder_name: holder, ...numbers }
    await call(context.client(), addBankAccount, { body, query: tried() })
    return tellAddition(context, holder)
  }
  const added = await change(context, context.client(), addBankAccount, {
    input: { body: { account_holder_name: holder, ...numbers } },
    options,
    danger: { what: `let payouts go to an account of ${holder}`, words: [holder], isExact: true, yes: options.yes },
  })
  if (added !== undefined) printAccount(context, added)
  return undefined
}

/** The request without the numbers, which the terminal would keep: so nobody is asked for them. */
function tellAddition(context: Context, holder: string): CommandResult {
  const { method } = addBankAccount
  const url = urlOf(context.client(), addBankAccount, {})
  const body = { account_holder_name: holder, sort_code: '****', account_number: '****' }
  context.print.record({
    item: { dry_run: true, method, url, body },
    id: url,
    lines: [
      ['Would send', `${method} ${url}`],
      ['Holder', holder],
    ],
  })
  context.note('Nothing was changed.')
  return undefined
}
