import { Balance, MerchantBalance, getBalances, listBalances } from '../../src/wire/ledger.ts'
import type { PayoutBlock } from '../../src/wire/ledger.ts'
import { call } from '../client/call.ts'
import type { PageReader } from '../client/pages.ts'
import { command } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'
import { listPages, PAGING } from '../kit/paging.ts'
import { OF_MERCHANTS, scopeOf } from '../merchants/whose.ts'
import { BALANCE_COLUMNS, MERCHANT_BALANCE_COLUMNS, totalsText } from './view.ts'

export const list = command({
  command: 'balances',
  summary: 'List balances, one row per currency',
  examples: ['svc balances', 'svc balances --all-merchants -o csv'],
  flags: { ...OF_MERCHANTS, ...PAGING },
  async run(context, input) {
    const client = context.client()
    const empty = 'No payment has settled yet.'
    const scope = await scopeOf(client, input)
    if (scope === undefined) {
      const { data: items } = (await call(client, getBalances, {})).body
      const fields = Object.keys(Balance.shape)
      context.print.list(items, { fields, columns: BALANCE_COLUMNS, id: (row) => row.currency, empty })
      for (const row of items) noteBlock(context, row)
      return
    }
    let totals = ''
    const read: PageReader<MerchantBalance> = async (page) => {
      const { body } = await call(client, listBalances, { query: { ...scope, ...page } })
      totals = body.totals.map(totalsText).join('\n')
      return body
    }
    await listPages(context, input, read, (items) => {
      const fields = Object.keys(MerchantBalance.shape)
      context.print.list(items, { fields, columns: MERCHANT_BALANCE_COLUMNS, id: (row) => row.merchant_id, empty })
      for (const row of items) noteBlock(context, row, row.trading_name)
      if (totals !== '') context.note(totals)
    })
  },
})

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
