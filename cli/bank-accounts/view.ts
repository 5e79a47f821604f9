import { BankAccount, listBankAccounts } from '../../src/wire/bank-accounts.ts'
import { dayOf, endOfId, shortTime } from '../base/text.ts'
import { call } from '../client/call.ts'
import type { CommandResult, Context } from '../kit/context.ts'

export async function list(context: Context): Promise<CommandResult> {
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
}

function stateOf({ is_active }: BankAccount): string {
  return is_active ? 'active' : 'disabled'
}

export function printAccount(context: Context, account: BankAccount): void {
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
