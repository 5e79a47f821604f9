import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { secondsUntilFewer } from '../../db/hourly-limit-sql.ts'
import { sql } from '../../db/sql.ts'

/**
 * Seconds until a customer has had fewer than `limit` failed look-ups within the hour; null if that is the case now.
 */
export function secondsToWait(
  tx: DatabaseTransactionConnection,
  { customerId, limit }: { customerId: string; limit: number },
): Promise<number | null> {
  return secondsUntilFewer(tx, { table: 'failed_look_ups', column: 'customer_id', value: customerId, limit })
}

/** Records a failed lookup, and deletes those of the same customer that no longer count. */
export async function insertFailedLookUp(tx: CommonQueryMethods, customerId: string): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    with forgotten as (
      delete from failed_look_ups
      where customer_id = ${customerId} and created_at <= clock_timestamp() - interval '1 hour'
    )
    insert into failed_look_ups (customer_id) values (${customerId})
  `)
}

const Open = z.object({ count: z.int() })

/** The number of a customer's undecided requests and offers, in total or to one counterparty; counted up to `max`. */
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
