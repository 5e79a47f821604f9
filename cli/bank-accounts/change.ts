import { z } from 'zod'
import { BankAccount, addBankAccount, disableBankAccount, listBankAccounts } from '../../src/wire/bank-accounts.ts'
import { ChangeOptions, change } from '../kit/change.ts'
import { call } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { urlOf } from '../client/build-request.ts'
import { resolveId } from '../kit/resolve-id.ts'
import { dayOf, endOfId, shortTime } from '../base/text.ts'
import { readNumbers } from './numbers.ts'

export async function list(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  const { body } = await call(context.client(), listBankAccounts, {})
  context.print.list({
    items: body.data,
    fields: Object.keys(BankAccount.shape),
    columns: [
      { title: 'id', value: (row) => row.id, short: endOfId },
      { title: 'holder', value: (row) => row.account_holder_name, least: 16 },
      { title: 'sort code', value: (row) => row.sort_code },
      { title: 'account', value: (row) => row.account_number },
      { title: 'iban', value: (row) => row.iban ?? '', dropped: 2 },
      { title: 'state', value: stateOf, style: (state) => (state === 'active' ? 'green' : 'red') },
      { title: 'added', value: (row) => shortTime(row.created_at), short: dayOf, dropped: 1 },
    ],
    id: (row) => row.id,
    empty: 'There are no bank accounts.',
  })
  return undefined
}

function stateOf({ is_active }: BankAccount): string {
  return is_active ? 'active' : 'disabled'
}

export const CreateOptions = ChangeOptions.extend({ holder: z.string(), stdin: z.boolean().default(false) })

export async function create(
  context: Context,
  { options }: CommandInput<z.infer<typeof CreateOptions>>,
): Promise<CommandResult> {
  const { holder } = options
  if (options.dryRun) return tellAddition(context, holder)
  const numbers = await readNumbers(context.io, options)
  const added = await change(context, context.client(), addBankAccount, {
    input: { body: { account_holder_name: holder, ...numbers } },
    options,
    danger: { what: `let payouts go to an account of ${holder}`, words: [holder], isExact: true, yes: options.yes },
  })
  if (added !== undefined) printAccount(context, added)
  return undefined
}

/** The request would show the numbers, and the terminal keeps what is shown: so none are asked for. */
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
  context.note('Nothing was changed, and the numbers were not asked for.')
  return undefined
}

export async function disable(
  context: Context,
  { args, options }: CommandInput<ChangeOptions>,
): Promise<CommandResult> {
  const [text] = args
  if (text === undefined) throw usageError('which account? Its id is missing', 'svc bank-accounts list')
  const client = context.client()
  const id = await resolveId(text, 'bank account', async function* ids() {
    for (const account of (await call(client, listBankAccounts, {})).body.data) yield account.id
  })
  const disabled = await change(context, client, disableBankAccount, {
    input: { params: { id } },
    options,
    effect: `this would end payouts to the account ${id}`,
    danger: {
      what: `end payouts to the account ${id}`,
      words: [id.slice(-8), id],
      isExact: text.toLowerCase() === id,
      yes: options.yes,
    },
  })
  if (disabled !== undefined) printAccount(context, disabled)
  return undefined
}

function printAccount(context: Context, account: BankAccount): void {
  context.print.record({
    item: account,
    id: account.id,
    lines: [
      ['Id', account.id],
      ['Holder', account.account_holder_name],
      ['Sort code', account.sort_code],
      ['Account', account.account_number],
      ['IBAN', account.iban ?? ''],
      ['State', stateOf(account)],
    ],
  })
}
