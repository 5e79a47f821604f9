import type { CommonQueryMethods } from 'slonik'
import { growingWait } from '../../banks/wait-sql.ts'
import type { WaitBounds } from '../../banks/wait-sql.ts'
import { sql } from '../../db/sql.ts'
import { claimedPayments } from '../claim-sql.ts'
import { PendingMandatePayment } from './record.ts'
import { CreateOutcome } from '../record.ts'
import type { NewPaymentItem } from '../record.ts'

/** Whether a payment with this idempotency key of the merchant exists. */
export async function hasPaymentWithKey(
  tx: CommonQueryMethods,
  { merchantId, idempotencyKey }: { merchantId: string; idempotencyKey: string },
): Promise<boolean> {
  const { exists } = await tx.one(sql.typeAlias('exists')`
    select exists (
      select from payment_intents where merchant_id = ${merchantId} and idempotency_key = ${idempotencyKey}
    ) as exists
  `)
  return exists
}

/** `create_payments` for one payment, outside the batches. */
export function createPaymentRow(tx: CommonQueryMethods, item: NewPaymentItem): Promise<CreateOutcome> {
  return tx.one(sql.type(CreateOutcome)`select * from create_payments(${JSON.stringify([item])}::json)`)
}

/** When a payment under a mandate is due: at once, and after a silence of its bank when that is asked again. */
const dueAt = sql.fragment`coalesce(settle_at, created_at)`

/**
 * Claims payments under mandates whose banks have not answered, the longest due first: however many a silent bank has, they
 * come after those that were due before. A payment older than `consentSeconds` is overdue.
 */
export function claimMandatePayments(
  tx: CommonQueryMethods,
  {
    limit,
    leaseSeconds,
    consentSeconds,
    exceptBanks,
  }: { limit: number; leaseSeconds: number; consentSeconds: number; exceptBanks: readonly string[] },
): Promise<readonly PendingMandatePayment[]> {
  return tx.any(sql.type(PendingMandatePayment)`
    ${claimedPayments({
      waiting: sql.fragment`
        under_mandate and status in ('Initiated', 'AwaitingAuthorisation') and ${dueAt} <= now()
      `,
      exceptBanks,
      orderBy: dueAt,
      limit,
      leaseSeconds,
    })}
    select p.merchant_id, p.id, p.consent_id, p.status, p.end_to_end_id, p.bank_consent_id, p.bank_connector,
      p.gross_amount, p.currency, coalesce(p.remittance_reference, c.remittance_reference) as remittance_reference,
      p.sandbox_scenario, c.bank_consent_reference,
      sandbox_moved_moment(p.merchant_id, p.created_at) <= now() - make_interval(secs => ${consentSeconds}) as is_overdue
    from claimed p
    join payment_consents c on c.merchant_id = p.merchant_id and c.id = p.consent_id
  `)
}

/** Claims a payment for `seconds` more, after a move that ended its claim. */
export async function keepMandatePayment(
  tx: CommonQueryMethods,
  { merchantId, id, seconds }: { merchantId: string; id: string; seconds: number },
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update payment_intents
    set locked_until = now() + make_interval(secs => ${seconds})
    where merchant_id = ${merchantId} and id = ${id} and status in ('Initiated', 'AwaitingAuthorisation')
  `)
}

/** Ends a claim early, as the bank gave no answer: it is asked again after a tenth of the time since the last move, within these bounds. */
export async function postponeMandatePayment(
  tx: CommonQueryMethods,
  { merchantId, id, ...bounds }: { merchantId: string; id: string } & WaitBounds,
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update payment_intents
    set settle_at = now() + ${growingWait(sql.fragment`updated_at`, bounds)}, locked_until = null
    where merchant_id = ${merchantId} and id = ${id} and status in ('Initiated', 'AwaitingAuthorisation')
  `)
}
