import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../../db/sql.ts'
import type { OrderStatus } from '../../wire/orders.ts'
import { ClaimedOrder } from './record.ts'

/** How many accounts, how many orders of each, and for how long they are nobody else's. */
export type Lease = { accounts: number; perAccount: number; leaseSeconds: number }

type ClaimInput = Lease & { from: OrderStatus; to: OrderStatus }

const isOpen = sql.fragment`o.status in ('Pending', 'AcceptedSettlementInProcess')`

/** The next account after this one that has open orders, and after the last one the first. */
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
 * Moves orders in `from` to `to` and leases them, with those in `to` whose lease has run out: of each of so many accounts
 * the oldest ones, so that a crowd of orders of one account keeps no other waiting. The accounts are counted off from any
 * one of them, which gives each its turn, and each is found by one step in the index, however many orders it has. The
 * statuses are also written out, as they are in the index.
 *
 * The oldest order that has not failed stands for its account: while it is another worker's, that one carries out the
 * account's orders, one after the other, and none of them is taken.
 */
export function claimRows(db: CommonQueryMethods, taking: ClaimInput): Promise<readonly ClaimedOrder[]> {
  const isFree = sql.fragment`(
    o.status = ${taking.from}::order_status or (o.status = ${taking.to}::order_status and o.locked_until <= now())
  )`
  return db.any(sql.prepared('take_orders', ClaimedOrder)`
    with recursive walk (account_id) as (
      select ${accountAfter(sql.fragment`anywhere.id`)} from (select gen_random_uuid() as id offset 0) anywhere
      union
      select ${accountAfter(sql.fragment`walk.account_id`)} from walk where walk.account_id is not null
    ), heads as materialized (
      select h.id
      from (select account_id from walk limit ${taking.accounts}) w
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
        limit ${taking.perAccount - 1}
        for no key update skip locked
      ) f
    ), taken as (
      update payment_orders o
      set status = ${taking.to}::order_status,
        locked_until = now() + make_interval(secs => ${taking.leaseSeconds}),
        updated_at = case when o.status = ${taking.to}::order_status then o.updated_at else now() end
      -- An array, whose length the planner takes to be small: it would read the whole table for a list.
      where o.id = any (array(select id from due))
      returning o.id, o.debtor_account_id, o.created_at
    )
    select id, debtor_account_id from taken order by created_at, id
  `)
}

const Open = z.object({ count: z.int() })

/** How many of a customer's orders are not carried out yet, counted up to `max`. */
export async function countOpen(
  db: CommonQueryMethods,
  { customerId, max }: { customerId: string; max: number },
): Promise<number> {
  const { count } = await db.one(sql.prepared('count_open_orders', Open)`
    select count(*)::integer as count
    from (
      select
      from accounts a
      -- Account by account, as the index has them: a plan that joins would read everybody's.
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

/** Counts a failure of an order that is in this status still, whose lease goes on; how many there have been. */
export async function countFailure(
  db: CommonQueryMethods,
  { id, status }: { id: string; status: OrderStatus },
): Promise<number> {
  const row = await db.maybeOne(sql.type(Failed)`
    update payment_orders
    set attempt_count = attempt_count + 1
    where id = ${id} and status = ${status}::order_status
    returning attempt_count
  `)
  return row?.attempt_count ?? 0
}

const Failed = z.object({ attempt_count: z.int() })
