import type { CommonQueryMethods } from 'slonik'
import type { Ids } from '../lib/ids.ts'
import { ACCOUNT_NUMBER_COUNT } from './account-number.ts'
import { openAccount } from './open-account.ts'
import { ensureMerchantCustomer, findSettlementAccount, lockSettlementAccounts } from './settlement-account-sql.ts'

/** 1,000,000.00: the maximum amount of a payment, so that it can be refunded after everything was paid out. */
const OVERDRAFT_MINOR = 100_000_000n

export type SettlementOwner = {
  merchantId: string
  /** The holder's name for a new account; truncated to 140 characters. */
  name: string
  currency: string
}

/**
 * The account that receives a merchant's payments in one currency (decision 59), opened on first use; concurrent
 * callers get the same one.
 * @returns the account's id
 */
export async function settlementAccountOf(
  { pool, ids }: { pool: CommonQueryMethods; ids: Ids },
  owner: SettlementOwner,
): Promise<string> {
  const known = await findSettlementAccount(pool, owner)
  if (known !== null) return known.id
  return pool.transaction(async (tx) => {
    await lockSettlementAccounts(tx, owner.merchantId)
    const made = await findSettlementAccount(tx, owner)
    return made?.id ?? openSettlementAccount(tx, ids, owner)
  })
}

async function openSettlementAccount(
  tx: CommonQueryMethods,
  ids: Ids,
  { merchantId, name, currency }: SettlementOwner,
) {
  const random = ids.for('settlement account', merchantId, currency)
  const id = random.uuid()
  const customerId = ids.for('merchant customer', merchantId).uuid()
  const customer = await ensureMerchantCustomer(tx, { id: customerId, merchantId, name })
  await openAccount(
    tx,
    {
      id,
      customerId: customer.id,
      currency,
      type: 'Business',
      subType: 'CurrentAccount',
      name,
      nickname: null,
      overdraftMinor: OVERDRAFT_MINOR,
    },
    () => Math.floor(random.random() * ACCOUNT_NUMBER_COUNT),
  )
  return id
}
