import type { App } from '../app.ts'
import type { LedgerAccount } from './movements.ts'
import { listBalanceRows } from './sql.ts'

/** The balances of a merchant's accounts in one currency, as numeric text on each account's normal side. */
export type CurrencyBalances = { currency: string; accounts: Readonly<Record<LedgerAccount, string>> }

/** A merchant's balances at this moment, by currency. */
export async function getBalances({ pool }: Pick<App, 'pool'>, merchantId: string): Promise<CurrencyBalances[]> {
  const byCurrency = Map.groupBy(await listBalanceRows(pool, merchantId), ({ currency }) => currency)
  return [...byCurrency].map(([currency, rows]) => {
    const of = (account: LedgerAccount) => rows.find((row) => row.account === account)?.balance ?? '0.0000'
    const accounts = {
      bank: of('bank'),
      clearing: of('clearing'),
      merchant_payable: of('merchant_payable'),
      held: of('held'),
      payouts_in_transit: of('payouts_in_transit'),
      fees_earned: of('fees_earned'),
      rounding: of('rounding'),
    }
    return { currency, accounts }
  })
}
