import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../../db/sql.ts'
import type { OrderStatus } from '../../wire/orders.ts'
import { ClaimedOrder } from './record.ts'

/** The number of accounts, of orders per account, and the duration of the lease. */
export type Lease = { accounts: number; perAccount: number; leaseSeconds: number }

type ClaimInput = Lease & { from: OrderStatus; to: OrderStatus }

const isOpen = sql.fragment`o.status in ('Pending', 'AcceptedSettlementInProcess')`

/** The next account with open orders after this one, wrapping around to the first. */
const accountAfter = (account: FragmentSqlToken): FragmentSqlToken => sql.fragment`
  coalesce(
    (
      select o.debtor_account_id
      from payment_orders o
      where ${isOpen} and o.debtor_account_id > ${account}
      order by o.debtor_account_id
      limit 1
    ),
    (select o.debtor_account_id from payment_orders o where ${isOpen} order by o.debtor_account_id limit 1)
  )
`

/**
 * Moves orders in `from` to `to` and leases them, together with those in `to` whose lease has expired: the oldest ones
 * of each of several accounts, so that many orders of one account do not delay the others. The accounts are enumerated
 * from a random start, which is fair to all, and each is found by one index probe, however many orders it has. The
 * statuses are also written as literals, to match the index.
 *
 * The oldest order that has not failed represents its account: while another worker holds it, that worker executes the
 * account's orders, one after the other, and none of them is claimed.
 */
export function claimRows(tx: CommonQueryMethods, claim: ClaimInput): Promise<readonly ClaimedOrder[]> {
  const isFree = sql.fragment`(
    o.status = ${claim.from}::order_status or (o.status = ${claim.to}::order_status and o.locked_until <= now())
  )`
  return tx.any(sql.prepared('claim_orders', ClaimedOrder)`
    with recursive walk (account_id) as (
      select ${accountAfter(sql.fragment`anywhere.id`)} from (select gen_random_uuid() as id offset 0) anywhere
      union
      select ${accountAfter(sql.fragment`walk.account_id`)} from walk where walk.account_id is not null
    ), heads as materialized (
      select h.id
      from (select account_id from walk limit ${claim.accounts}) w
      cross join lateral (
        select o.id
        from payment_orders o
        where o.debtor_account_id = w.account_id and ${isOpen} and (o.attempt_count = 0 or ${isFree})
        order by o.created_at, o.id
        limit 1
      ) h
    ), held as materialized (
      select o.id, o.debtor_account_id, o.created_at
      from heads h
      join payment_orders o on o.id = h.id
      where ${isFree}
      for no key update of o skip locked
    ), due as materialized (
      select id from held
      union all
      select f.id
      from held h
      cross join lateral (
        select o.id
        from payment_orders o
        where o.debtor_account_id = h.debtor_account_id and ${isOpen} and ${isFree}
          and (o.created_at, o.id) > (h.created_at, h.id)
        order by o.created_at, o.id
        limit ${claim.perAccount - 1}
        for no key update skip locked
      ) f
    ), taken as (
      update payment_orders o
      set status = ${claim.to}::order_status,
        locked_until = now() + make_interval(secs => ${claim.leaseSeconds}),
        updated_at = case when o.status = ${claim.to}::order_status then o.updated_at else now() end
      -- An array, which the planner assumes to be short: for a subquery it would read the whole table.
      where o.id = any (array(select id from due))
      returning o.id, o.debtor_account_id, o.created_at
    )
    select id, debtor_account_id from taken order by created_at, id
  `)
}

const Open = z.object({ count: z.int() })

/** The number of a customer's orders that are not executed yet, counted up to `max`. */
export async function countOpen(
  tx: CommonQueryMethods,
  { customerId, max }: { customerId: string; max: number },
): Promise<number> {
  const { count } = await tx.one(sql.prepared('count_open_orders', Open)`
    select count(*)::integer as count
    from (
      select
      from accounts a
      -- Account by account, in index order: a join would read the orders of all customers.
      cross join lateral (
        select
        from payment_orders o
        where o.debtor_account_id = a.id and ${isOpen}
        order by o.created_at, o.id
        limit ${max}
      ) own
      where a.customer_id = ${customerId}
      limit ${max}
    ) as open
  `)
  return count
}

/** Counts a failure of an order that is still in this status, keeping its lease; returns the number of failures. */
export async function countFailure(
  tx: CommonQueryMethods,
  { id, status }: { id: string; status: OrderStatus },
): Promise<number> {
  const row = await tx.maybeOne(sql.type(Failed)`
    update payment_orders
    set attempt_count = attempt_count + 1
    where id = ${id} and status = ${status}::order_status
    returning attempt_count
  `)
  return row?.attempt_count ?? 0
}

const Failed = z.object({ attempt_count: z.int() })
