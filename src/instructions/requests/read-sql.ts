import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../../db/sql.ts'
import { PaymentRequestRecord } from './record.ts'
import type { PaymentRequestKind } from './record.ts'
import { EXPIRED } from './reasons.ts'

/**
 * The wall-clock time and not the transaction's: a decision that waited for its row is compared with the current time.
 */
const columns = sql.fragment`
  r.id, r.customer_id, r.counterparty_id, r.kind, r.name, r.identifier, r.amount_minor, r.currency, r.due_date,
  r.expires_at, r.reference, r.account_id, r.payer_id, r.order_id, r.created_at,
  case when late.is_late then 'Rejected' else r.status end as status,
  case when late.is_late then ${EXPIRED} else r.status_reason_code end as status_reason_code,
  case when late.is_late then r.expires_at else r.updated_at end as updated_at
`

const tables = sql.fragment`
  payment_requests r
  cross join lateral (select r.status = 'Sent' and r.expires_at <= clock_timestamp() as is_late) late
`

/** A request as named by one of its two sides. */
export type RequestName = { kind: PaymentRequestKind; customerId: string; id: string }

/** A request of this kind that the customer has created or received. */
export function findRequest(
  tx: CommonQueryMethods,
  { kind, customerId, id }: RequestName,
): Promise<PaymentRequestRecord | null> {
  return tx.maybeOne(sql.prepared('find_payment_request', PaymentRequestRecord)`
    select ${columns}
    from ${tables}
    where r.id = ${id} and r.kind = ${kind}::payment_request_kind
      and ${customerId} in (r.customer_id, r.counterparty_id)
  `)
}

type RequestSide = Omit<RequestName, 'id'>

/**
 * The requests that the customer has created or received, newest first. Each side has an index in this order, so the
 * page reads only their beginnings; no request has the same customer on both sides.
 */
export function listRequestRows(
  tx: CommonQueryMethods,
  { kind, customerId, limit, offset }: RequestSide & { limit: number; offset: number },
): Promise<readonly PaymentRequestRecord[]> {
  return tx.any(sql.type(PaymentRequestRecord)`
    with sides as (
      (${newest(sql.fragment`customer_id`, { kind, customerId, limit, offset })})
      union all
      (${newest(sql.fragment`counterparty_id`, { kind, customerId, limit, offset })})
    ), page as (
      select id from sides order by created_at desc, id desc limit ${limit} offset ${offset}::bigint
    )
    select ${columns}
    from ${tables}
    where r.id = any (array(select id from page))
    order by r.created_at desc, r.id desc
  `)
}

function newest(
  side: FragmentSqlToken,
  { kind, customerId, limit, offset }: RequestSide & { limit: number; offset: number },
): FragmentSqlToken {
  return sql.fragment`
    select id, created_at
    from payment_requests
    where ${side} = ${customerId} and kind = ${kind}::payment_request_kind
    order by created_at desc, id desc
    limit ${offset + limit}::bigint
  `
}

export async function countRequests(tx: CommonQueryMethods, { kind, customerId }: RequestSide): Promise<bigint> {
  const { count } = await tx.one(sql.typeAlias('count')`
    select (
      (select count(*) from payment_requests where customer_id = ${customerId} and kind = ${kind}::payment_request_kind)
      + (
        select count(*)
        from payment_requests
        where counterparty_id = ${customerId} and kind = ${kind}::payment_request_kind
      )
    ) as count
  `)
  return count
}

const Recent = z.object({ count: z.int() })

/** The number of requests from one customer to another within the last hour, counted up to `max`. */
export async function countRecentlySent(
  tx: CommonQueryMethods,
  { customerId, counterpartyId, max }: { customerId: string; counterpartyId: string; max: number },
): Promise<number> {
  const { count } = await tx.one(sql.type(Recent)`
    select count(*)::integer as count
    from (
      select
      from payment_requests
      where customer_id = ${customerId} and counterparty_id = ${counterpartyId}
        and created_at > now() - interval '1 hour'
      limit ${max}
    ) as lately
  `)
  return count
}
