import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'
import { ToldEvent, ToldPayment, ToldRefund } from './record.ts'

/** Makes the transaction one look: every statement after it sees the same moment, and none of them can write. */
export async function beginLook(tx: CommonQueryMethods): Promise<void> {
  await tx.query(sql.typeAlias('void')`set transaction isolation level repeatable read read only`)
}

export function findPayment(
  tx: CommonQueryMethods,
  { merchantId, id, disputeDays }: { merchantId: string; id: string; disputeDays: number },
): Promise<ToldPayment | null> {
  return tx.maybeOne(sql.type(ToldPayment)`
    select p.id, p.merchant_id, p.status, p.gross_amount, p.fee_amount, p.net_amount, p.fee_percentage, p.fee_flat,
      p.refunded_amount, p.refund_reserved_amount, p.currency, p.failure_code, p.failure_source, p.bank_connector,
      p.under_mandate, c.debtor_bank_id, c.status as consent_status, c.expires_at, p.settle_at, p.created_at,
      sandbox_moved_moment(p.merchant_id, p.created_at) + make_interval(days => ${disputeDays}) as disputable_until, now() as now
    from payment_intents p
    join payment_consents c on c.merchant_id = p.merchant_id and c.id = p.consent_id
    where p.merchant_id = ${merchantId} and p.id = ${id}
  `)
}

type OfPayment = { merchantId: string; paymentId: string }

/** A payment's moves in their order: its own machine keeps them few. Of their payloads nothing but which kind they are. */
export function listEvents(
  tx: CommonQueryMethods,
  { merchantId, paymentId, limit }: OfPayment & { limit: number },
): Promise<readonly ToldEvent[]> {
  return tx.any(sql.type(ToldEvent)`
    select previous_status, new_status, changed_by, created_at,
      case when changed_by = 'BATCH_JOB' then raw_payload ->> 'job' end as job,
      changed_by = 'BANK_CALLBACK'
        and (raw_payload ->> 'code' is not null or raw_payload ->> 'error' is not null) as by_browser
    from payment_events
    where merchant_id = ${merchantId} and payment_intent_id = ${paymentId}
    order by ordinal
    limit ${limit}
  `)
}

/** A payment's refunds, the newest first. */
export function listRefunds(
  tx: CommonQueryMethods,
  { merchantId, paymentId, limit }: OfPayment & { limit: number },
): Promise<readonly ToldRefund[]> {
  return tx.any(sql.type(ToldRefund)`
    select r.id, r.amount, r.status, r.failure_code, r.attempt_count, r.resume_at, r.created_at, r.updated_at, r.dispute_id
    from payment_refunds r
    where r.merchant_id = ${merchantId} and r.payment_intent_id = ${paymentId}
    order by r.created_at desc, r.id desc
    limit ${limit}
  `)
}

/** The refunds that the resolution of a dispute ordered, the newest first: more than one where the bank refused. */
export function listOrderedRefunds(
  tx: CommonQueryMethods,
  { merchantId, disputeId, limit }: { merchantId: string; disputeId: string; limit: number },
): Promise<readonly ToldRefund[]> {
  return tx.any(sql.type(ToldRefund)`
    select id, amount, status, failure_code, attempt_count, resume_at, created_at, updated_at, dispute_id
    from payment_refunds
    where merchant_id = ${merchantId} and dispute_id = ${disputeId}
    order by created_at desc, id desc
    limit ${limit}
  `)
}
