import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { claimedPayments } from './claim-sql.ts'
import { DueSettlement } from './record.ts'

/** Takes payments whose execution is due, the longest due first. */
export function claimSettlements(
  db: CommonQueryMethods,
  { limit, leaseSeconds }: { limit: number; leaseSeconds: number },
): Promise<readonly DueSettlement[]> {
  return db.any(sql.prepared('claim_settlements', DueSettlement)`
    ${claimedPayments({
      waiting: sql.fragment`status = 'Authorised' and settle_at <= now()`,
      orderBy: sql.fragment`settle_at`,
      limit,
      leaseSeconds,
    })}
    select id, merchant_id, end_to_end_id, bank_consent_id, bank_connector, gross_amount, currency
    from claimed
  `)
}

/** Ends a claim early: the payment is executed again after `seconds`. */
export async function postponeSettlement(
  db: CommonQueryMethods,
  { merchantId, id, seconds }: { merchantId: string; id: string; seconds: number },
): Promise<void> {
  await db.query(sql.type(z.object({}))`
    update payment_intents
    set settle_at = now() + make_interval(secs => ${seconds}), locked_until = null
    where merchant_id = ${merchantId} and id = ${id} and status = 'Authorised'
  `)
}
