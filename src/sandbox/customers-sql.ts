import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { SandboxAccountRecord, SandboxCustomerRecord } from './record.ts'

/** Null when this customer exists already. */
export function insertCustomer(
  tx: CommonQueryMethods,
  customer: { id: string; externalId: string; name: string; email: string; createdAt?: string },
): Promise<{ id: string } | null> {
  return tx.maybeOne(sql.typeAlias('id')`
    insert into customers (id, external_customer_id, name, email, created_at)
    values (
      ${customer.id}, ${customer.externalId}, ${customer.name}, ${customer.email},
      coalesce(${customer.createdAt ?? null}::timestamptz, now())
    )
    on conflict do nothing
    returning id
  `)
}

export type Proxy = { kind: 'EMAIL' | 'MOBILE' | 'PROXY'; value: string }

/** @returns false when another customer has it */
export async function insertProxy(
  tx: CommonQueryMethods,
  { customerId, kind, value }: Proxy & { customerId: string },
): Promise<boolean> {
  const inserted = await tx.maybeOne(sql.type(z.object({ proxy: z.string() }))`
    insert into customer_proxies (proxy, kind, customer_id)
    values (${value}, ${kind}, ${customerId})
    on conflict do nothing
    returning proxy
  `)
  return inserted !== null
}

export async function insertClient(
  tx: CommonQueryMethods,
  { customerId, clientId }: { customerId: string; clientId: string },
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    insert into customer_clients (client_id, customer_id) values (${clientId}, ${customerId}) on conflict do nothing
  `)
}

const customerColumns = sql.fragment`
  c.id, c.external_customer_id, c.name,
  (select proxy from customer_proxies where customer_id = c.id and kind = 'EMAIL' order by proxy limit 1) as email,
  (select proxy from customer_proxies where customer_id = c.id and kind = 'MOBILE' order by proxy limit 1) as mobile,
  (select proxy from customer_proxies where customer_id = c.id and kind = 'PROXY' order by proxy limit 1) as proxy_id,
  (select client_id from customer_clients where customer_id = c.id order by created_at, client_id limit 1) as client_id
`

/** Customers with their proxies, in the order of `ids`. */
export function listCustomers(
  tx: CommonQueryMethods,
  ids: readonly string[],
): Promise<readonly SandboxCustomerRecord[]> {
  return tx.any(sql.type(SandboxCustomerRecord)`
    select ${customerColumns}
    from customers c
    where c.id = any (${sql.array([...ids], 'uuid')})
    order by array_position(${sql.array([...ids], 'uuid')}, c.id)
  `)
}

const accountColumns = sql.fragment`
  a.id, a.customer_id, c.external_customer_id, c.merchant_id, a.name, a.nickname, a.currency, a.balance_minor,
  a.overdraft_limit_minor, a.status, a.sort_code_account_number, a.iban, a.transaction_count::int as transaction_count
`

/** All accounts of these customers, in order of creation. */
export function listAccountsOf(
  tx: CommonQueryMethods,
  customerIds: readonly string[],
): Promise<readonly SandboxAccountRecord[]> {
  return tx.any(sql.type(SandboxAccountRecord)`
    select ${accountColumns}
    from accounts a join customers c on c.id = a.customer_id
    where a.customer_id = any (${sql.array([...customerIds], 'uuid')})
    order by a.created_at, a.id
  `)
}

type AccountPage = {
  externalId: string | undefined
  merchantId: string | undefined
  afterId: string | undefined
  limit: number
}

/** A page of the bank's accounts, in order of creation. */
export function listAccountRows(
  tx: CommonQueryMethods,
  { externalId, merchantId, afterId, limit }: AccountPage,
): Promise<readonly SandboxAccountRecord[]> {
  const after = sql.fragment`
    (a.created_at, a.id) > (select l.created_at, l.id from accounts l where l.id = ${afterId ?? null})
  `
  return tx.any(sql.type(SandboxAccountRecord)`
    select ${accountColumns}
    from accounts a join customers c on c.id = a.customer_id
    where ${externalId === undefined ? sql.fragment`true` : sql.fragment`c.external_customer_id = ${externalId}`}
      and ${merchantId === undefined ? sql.fragment`true` : sql.fragment`c.merchant_id = ${merchantId}`}
      and ${afterId === undefined ? sql.fragment`true` : after}
    order by a.created_at, a.id
    limit ${limit}
  `)
}

/** Finds an account and locks it, so that nothing is booked on it until the transaction ends. */
export function lockAccount(tx: CommonQueryMethods, id: string): Promise<SandboxAccountRecord | null> {
  return tx.maybeOne(sql.type(SandboxAccountRecord)`
    select ${accountColumns} from accounts a join customers c on c.id = a.customer_id where a.id = ${id} for update of a
  `)
}

export async function updateAccount(
  tx: CommonQueryMethods,
  account: { id: string; status: string; overdraftMinor: bigint },
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update accounts
    set status = ${account.status}, overdraft_limit_minor = ${account.overdraftMinor}
    where id = ${account.id}
  `)
}
