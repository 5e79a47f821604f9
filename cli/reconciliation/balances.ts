import type { Command } from 'commander'
import { z } from 'zod'
import { Balance, MerchantBalance, getBalances, listBalances } from '../../src/wire/ledger.ts'
import type { PayoutBlock } from '../../src/wire/ledger.ts'
import { call } from '../client/call.ts'
import { collectPages } from '../client/pages.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { Paging, paged } from '../kit/paging.ts'
import { MerchantScope, ofMerchants, scopeOf } from '../merchants/whose.ts'
import { BALANCE_COLUMNS, MERCHANT_BALANCE_COLUMNS, totalsText } from './view.ts'

const Options = Paging.extend(MerchantScope.shape)

/** `svc balances`: what is owed to a merchant, or to all of them. */
export function addBalances(command: Command, runtime: Runtime): void {
  paged(ofMerchants(command))
    .addHelpText('after', '\nExamples:\n  svc balances\n  svc balances --all-merchants -o csv\n')
    .action(action(runtime, Options, list))
}

async function list(context: Context, { options }: CommandInput<z.infer<typeof Options>>): Promise<CommandResult> {
  const client = context.client()
  const empty = 'No payment has settled yet.'
  const scope = await scopeOf(client, options)
  if (scope === undefined) {
    const { data: items } = (await call(client, getBalances, {})).body
    const fields = Object.keys(Balance.shape)
    context.print.list({ items, fields, columns: BALANCE_COLUMNS, id: (row) => row.currency, empty })
    for (const row of items) noteBlock(context, row)
    return
  }
  let totals = ''
  const { items, nextCursor } = await collectPages(options, async (page) => {
    const { body } = await call(client, listBalances, { query: { ...scope, ...page } })
    totals = body.totals.map(totalsText).join('\n')
    return body
  })
  context.print.list({
    items,
    fields: Object.keys(MerchantBalance.shape),
    columns: MERCHANT_BALANCE_COLUMNS,
    id: (row) => row.merchant_id,
    empty,
  })
  for (const row of items) noteBlock(context, row, row.trading_name)
  if (totals !== '') context.note(totals)
  if (nextCursor !== null) context.note(`There are more: --cursor ${nextCursor}, or --all`)
}

/** What stands in the way of a payout, and what to do about it. */
const BLOCKS: Record<PayoutBlock, string> = {
  MERCHANT_NOT_APPROVED: 'the KYB review is not approved (svc kyb approve)',
  MERCHANT_INACTIVE: 'the merchant is disabled (svc merchants enable)',
  PAYOUT_HELD: 'payouts are held (svc hold release)',
  BANK_ACCOUNT_MISSING: 'no bank account takes it (svc payouts accounts create; an IBAN for other currencies than GBP)',
  MERCHANT_IN_DEBT: 'the merchant owes as much, such as refunds; it is paid out of the next settlements',
  BANK_ACCOUNT_REJECTED: 'the bank rejected the account (svc payouts accounts create, or svc payouts retry)',
}

type Blockable = Pick<Balance, 'currency' | 'merchant_payable' | 'payout_blocked_by'>

function noteBlock(
  context: Context,
  { currency, merchant_payable, payout_blocked_by: block }: Blockable,
  name = '',
): void {
  if (block === null) return
  context.note(`${name === '' ? '' : `${name}: `}${merchant_payable} ${currency} is not paid out: ${BLOCKS[block]}`)
}
