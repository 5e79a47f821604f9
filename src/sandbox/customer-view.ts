import type { CommonQueryMethods } from 'slonik'
import type { SandboxCustomer } from '../wire/sandbox-bank.ts'
import { accountView } from './account-view.ts'
import { listAccountsOf, listCustomers } from './customers-sql.ts'

/** Reads customers in the sandbox API's form, with their accounts and without secrets, in the order of `ids`. */
export async function customerViews(
  db: CommonQueryMethods,
  ids: readonly string[],
): Promise<Omit<SandboxCustomer, 'client_secret' | 'issuer'>[]> {
  const customers = await listCustomers(db, ids)
  const accounts = Map.groupBy(await listAccountsOf(db, ids), ({ customer_id }) => customer_id)
  return customers.map(({ id, external_customer_id: customerId, ...customer }) => ({
    customer_id: customerId,
    ...customer,
    accounts: (accounts.get(id) ?? []).map(accountView),
  }))
}
