import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

const OpenPeriod = z.object({ merchant_id: z.string(), currency: z.string() })
export type OpenPeriod = z.infer<typeof OpenPeriod>

/** Periods that have ended, the longest ago first. */
export function listDuePeriods(tx: CommonQueryMethods, limit: number): Promise<readonly OpenPeriod[]> {
  return tx.any(sql.type(OpenPeriod)`
    select merchant_id, currency from open_settlements where due_at <= now() order by due_at limit ${limit}
  `)
}

/** The open periods of a merchant that have lines. */
export function listOpenPeriods(tx: CommonQueryMethods, merchantId: string): Promise<readonly OpenPeriod[]> {
  return tx.any(sql.type(OpenPeriod)`
    select merchant_id, currency from open_settlements where merchant_id = ${merchantId} order by currency
  `)
}

/** Closes a period, in the transaction of this one statement. @returns false where there is nothing to close */
export function closePeriod(
  tx: CommonQueryMethods,
  { id, period, byHand }: { id: string; period: OpenPeriod; byHand: boolean },
): Promise<boolean> {
  const { merchant_id: merchantId, currency } = period
  return tx.oneFirst(sql.type(z.object({ is_closed: z.boolean() }))`
    select close_settlement(${id}, ${merchantId}, ${currency}, ${byHand}) as is_closed
  `)
}
