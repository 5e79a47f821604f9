import { randomInt, randomUUID } from 'node:crypto'
import type { TestService } from './app.ts'

export type TestAccount = { id: string; number: string; currency: string; iban: string | null }
export type TestCustomer = {
  id: string
  externalId: string
  name: string
  email: string
  /** The customer's credentials without an identity provider. */
  headers: Record<string, string>
  accounts: TestAccount[]
  /** The first one. */
  account: TestAccount
}

export type NewTestAccount = {
  currency?: 'GBP' | 'EUR'
  /** Minor units that come from another bank. */
  balance?: bigint
  overdraft?: bigint
  status?: 'Enabled' | 'Blocked' | 'Closed'
  iban?: string
}

/** A customer of the bank with accounts and money, written behind the service's back; £1,000.00 where nothing is said. */
export async function addCustomer(
  { owner }: Pick<TestService, 'owner'>,
  {
    name = 'Grace Payer',
    mobile,
    proxy,
    accounts = [{}],
  }: { name?: string; mobile?: string; proxy?: string; accounts?: NewTestAccount[] } = {},
): Promise<TestCustomer> {
  const id = randomUUID()
  const externalId = `customer-${id.slice(0, 8)}`
  const email = `${externalId}@example.org`
  await owner.query('insert into customers (id, external_customer_id, name, email) values ($1, $2, $3, $4)', [
    id,
    externalId,
    name,
    email,
  ])
  for (const [kind, value] of [
    ['EMAIL', email],
    ['MOBILE', mobile],
    ['PROXY', proxy],
  ]) {
    if (value === undefined) continue
    await owner.query('insert into customer_proxies (proxy, kind, customer_id) values ($1, $2, $3)', [value, kind, id])
  }
  const made: TestAccount[] = []
  for (const input of accounts) made.push(await addAccount({ owner }, { customerId: id, name, input }))
  const [account] = made
  if (account === undefined) throw new Error('a test customer has an account')
  return { id, externalId, name, email, headers: { 'x-customer-id': externalId }, accounts: made, account }
}

async function addAccount(
  { owner }: Pick<TestService, 'owner'>,
  { customerId, name, input }: { customerId: string; name: string; input: NewTestAccount },
): Promise<TestAccount> {
  const { currency = 'GBP', balance = 100_000n, overdraft = 0n, status = 'Enabled', iban = null } = input
  const id = randomUUID()
  const number = String(randomInt(10_000_000_000_000, 99_999_999_999_999))
  await owner.query(
    `insert into accounts (id, customer_id, currency, account_type, account_sub_type, name, sort_code_account_number, iban, overdraft_limit_minor)
     values ($1, $2, $3, 'Personal', 'CurrentAccount', $4, $5, $6, $7)`,
    [id, customerId, currency, name, number, iban, String(overdraft)],
  )
  if (balance > 0n) {
    const { rows } = await owner.query(
      `select book_transfer($1, null, $2, $3, $4, 'Another bank', $5, 'opening') as outcome`,
      [randomUUID(), id, String(balance), currency, name],
    )
    if (rows[0]?.outcome !== 'BOOKED') throw new Error(`the money did not come: ${String(rows[0]?.outcome)}`)
  }
  if (status !== 'Enabled') await owner.query('update accounts set status = $2 where id = $1', [id, status])
  return { id, number, currency, iban }
}

/** The balance of an account, in minor units. */
export async function balanceOf({ owner }: Pick<TestService, 'owner'>, accountId: string): Promise<bigint> {
  const { rows } = await owner.query('select balance_minor::text as balance from accounts where id = $1', [accountId])
  return BigInt(rows[0]?.balance)
}
