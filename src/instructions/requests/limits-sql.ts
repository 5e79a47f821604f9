import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { sql } from '../../db/sql.ts'

const Wait = z.object({ seconds: z.int() })

/** Seconds until a customer has had fewer than `limit` failed look-ups within the hour; null where that is so now. */
export async function secondsToWait(
  tx: DatabaseTransactionConnection,
  { customerId, limit }: { customerId: string; limit: number },
): Promise<number | null> {
  const wait = await tx.maybeOne(sql.type(Wait)`
    select ceil(extract(epoch from created_at + interval '1 hour' - clock_timestamp()))::int as seconds
    from failed_look_ups
    where customer_id = ${customerId} and created_at > clock_timestamp() - interval '1 hour'
    order by created_at desc
    offset ${limit - 1}
    limit 1
  `)
  return wait === null ? null : Math.max(wait.seconds, 1)
}

/** Counts a failed look-up, and forgets those of the same customer that count no longer. */
export async function insertFailedLookUp(db: CommonQueryMethods, customerId: string): Promise<void> {
  await db.query(sql.typeAlias('void')`
    with forgotten as (
      delete from failed_look_ups
      where customer_id = ${customerId} and created_at <= clock_timestamp() - interval '1 hour'
    )
    insert into failed_look_ups (customer_id) values (${customerId})
  `)
}

const Open = z.object({ count: z.int() })

/** How many requests and offers of a customer, or of those to one other, nobody has decided on yet; up to `max`. */
export async function countOpen(
  tx: DatabaseTransactionConnection,
  { customerId, counterpartyId = null, max }: { customerId: string; counterpartyId?: string | null; max: number },
): Promise<number> {
  const pair = counterpartyId === null ? sql.fragment`` : sql.fragment`and counterparty_id = ${counterpartyId}`
  const { count } = await tx.one(sql.type(Open)`
    select count(*)::integer as count
    from (
      select
      from payment_requests
      where customer_id = ${customerId} ${pair} and status = 'Sent' and expires_at > clock_timestamp()
      limit ${max}
    ) as open
  `)
  return count
}
