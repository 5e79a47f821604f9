import { getBalances } from '../../ledger/get-balances.ts'
import type { CurrencyBalances } from '../../ledger/get-balances.ts'
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
