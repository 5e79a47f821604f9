import { addBankAccount } from '../../../src/wire/bank-accounts.ts'
import { closeSettlements, listSettlements } from '../../../src/wire/settlements.ts'
import { call } from '../../client/call.ts'
import type { Shop } from './make-merchants.ts'

const SORT_CODE = '20-45-31'
/** An account that the mock bank has not: what it is paid fails. */
const UNKNOWN = { sort_code: '00-00-75', account_number: '99999999' }

/**
 * Settles what the shops have taken and gives them accounts, so that the worker pays them: all but the one whose payouts
 * are about to be held, and the one whose account is wrong.
 */
export async function makeSettlements(
  shops: readonly Shop[],
  { held, wrong }: { held: Shop | undefined; wrong: Shop | undefined },
): Promise<number> {
  const counts = await Promise.all(
    shops.map(async (shop, index) => {
      const { client, name } = shop
      const account = shop === wrong ? UNKNOWN : { sort_code: SORT_CODE, account_number: String(10_000_001 + index) }
      if (shop !== held) await call(client, addBankAccount, { body: { account_holder_name: name, ...account } })
      await call(client, closeSettlements, { body: {} })
      // A clock that passed midnight has closed some before.
      return (await call(client, listSettlements, { query: {} })).body.data.length
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}
