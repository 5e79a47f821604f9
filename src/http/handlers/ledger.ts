import { getBalances } from '../../ledger/get-balances.ts'
import type { CurrencyBalances } from '../../ledger/get-balances.ts'
import { listBalances } from '../../ledger/list-balances.ts'
import type { MerchantBalances } from '../../ledger/record.ts'
import { formatSum } from '../../lib/money.ts'
import type * as wire from '../../wire/ledger.ts'
import type { Handlers } from '../endpoint.ts'
import { merchantIdOf } from '../principal.ts'

export const ledger: Handlers<typeof wire> = {
  /** GET /api/v1/portal/balances */
  async getBalances(app, { principal }) {
    const balances = await getBalances(app, merchantIdOf(principal))
    return { status: 200, body: { data: balances.map(present), has_more: false, next_cursor: null } }
  },

  /** GET /api/v1/admin/balances */
  async listBalances(app, { query }) {
    const { rows, nextCursor, totals } = await listBalances(app, query)
    const data = rows.map((row) => ({ merchant_id: row.merchant_id, ...presentAll(row) }))
    const body = { data, has_more: nextCursor !== null, next_cursor: nextCursor, totals: totals.map(presentAll) }
    return { status: 200, body }
  },
}

function present({ currency, accounts }: CurrencyBalances): wire.Balance {
  const { clearing, merchant_payable, held, payouts_in_transit, fees_earned } = accounts
  return {
    currency,
    clearing: formatSum([clearing], currency),
    merchant_payable: formatSum([merchant_payable], currency),
    held: formatSum([held], currency),
    payouts_in_transit: formatSum([payouts_in_transit], currency),
    total: formatSum([clearing, merchant_payable, held, payouts_in_transit], currency),
    fees_paid: formatSum([fees_earned], currency),
  }
}

function presentAll(balances: Omit<MerchantBalances, 'merchant_id'>): Omit<wire.MerchantBalance, 'merchant_id'> {
  const { currency, bank, clearing, merchant_payable, held, payouts_in_transit, fees_earned, rounding } = balances
  return {
    currency,
    bank: formatSum([bank], currency),
    clearing: formatSum([clearing], currency),
    merchant_payable: formatSum([merchant_payable], currency),
    held: formatSum([held], currency),
    payouts_in_transit: formatSum([payouts_in_transit], currency),
    total: formatSum([clearing, merchant_payable, held, payouts_in_transit], currency),
    fees_earned: formatSum([fees_earned], currency),
    rounding: formatSum([rounding], currency),
  }
}
