import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { ExpiredPayment, MoveOutcome, PaymentEventRecord, PaymentRecord } from './record.ts'
import type { PaymentMoveItem } from './record.ts'

/** The columns of `PaymentRecord`, from `paymentTables`. */
export const paymentColumns = sql.fragment`
  p.id, p.merchant_id, p.consent_id, p.status, p.end_to_end_id, p.gross_amount, p.fee_amount, p.net_amount,
  p.refunded_amount, p.refund_reserved_amount, p.currency, p.redirect_uri, p.redirect_url, p.return_url, p.order_id,
  p.under_mandate, p.metadata, p.failure_code, p.failure_source, p.bank_consent_id, p.bank_connector, p.bank_reference,
  c.consent_type, c.status as consent_status, c.debtor_bank_id, c.payer_name,
  coalesce(p.remittance_reference, c.remittance_reference) as remittance_reference,
  case when p.under_mandate then p.sandbox_scenario else c.sandbox_scenario end as sandbox_scenario, c.expires_at,
  p.created_at, p.updated_at, c.expires_at <= now() as consent_ended,
  not p.under_mandate
    and least(c.expires_at, case when c.valid_to is not null then p.created_at + interval '1 day' end)
      + interval '1 hour' > now()
    as state_valid
`

/** Payments `p`, each with its consent `c`. */
export const paymentTables = sql.fragment`
  payment_intents p join payment_consents c on c.merchant_id = p.merchant_id and c.id = p.consent_id
`

/** The same for a plan that is kept: each consent is looked up by its key, however few a merchant has on average. */
export const keyedPaymentTables = sql.fragment`
  payment_intents p cross join lateral (
    select k.consent_type, k.status, k.debtor_bank_id, k.payer_name, k.remittance_reference, k.sandbox_scenario,
      k.expires_at, k.valid_to
    from payment_consents k
    where k.merchant_id = p.merchant_id and k.id = p.consent_id
    limit 1
  ) c
`

/** A payment of any merchant by its id, for callers whose credential is the payment's own `state`. */
export function findPaymentById(tx: CommonQueryMethods, id: string): Promise<PaymentRecord | null> {
  return tx.maybeOne(sql.prepared('find_payment_by_id', PaymentRecord)`
    select ${paymentColumns} from ${paymentTables} where p.id = ${id}
  `)
}

/** A payment by the `state` that its bank was given. */
export function findPaymentByState(tx: CommonQueryMethods, state: string): Promise<PaymentRecord | null> {
  return tx.maybeOne(sql.prepared('find_payment_by_state', PaymentRecord)`
    select ${paymentColumns} from ${paymentTables} where p.bank_consent_id = ${state}
  `)
}

/** The audit events of one payment, the oldest first. */
export function listPaymentEventRows(
  tx: CommonQueryMethods,
  key: { merchantId: string; id: string },
): Promise<readonly PaymentEventRecord[]> {
  return tx.any(sql.prepared('list_payment_events', PaymentEventRecord)`
    select id, ordinal::text as ordinal, previous_status, new_status, changed_by, raw_payload_sha256, prev_hash,
      event_hash, created_at
    from payment_events
    where merchant_id = ${key.merchantId} and payment_intent_id = ${key.id}
    order by payment_events.ordinal
  `)
}

/** `move_payments` for one payment, in the caller's transaction. */
export function movePaymentRow(tx: DatabaseTransactionConnection, item: PaymentMoveItem): Promise<MoveOutcome> {
  return tx.one(sql.type(MoveOutcome)`
    select ord, outcome, status, expires_at from move_payments(${JSON.stringify([item])}::json)
  `)
}

/** Payments that still wait for their payer after the end of their consent. */
export function listExpiredPayments(
  tx: CommonQueryMethods,
  limit: number,
  after: Pick<ExpiredPayment, 'expires_at' | 'id'> = {
    expires_at: '-infinity',
    id: '00000000-0000-0000-0000-000000000000',
  },
): Promise<readonly ExpiredPayment[]> {
  return tx.any(sql.prepared('list_expired_payments', ExpiredPayment)`
    select p.id, p.merchant_id, p.status, c.expires_at::text
    from payment_consents c
    join payment_intents p on p.merchant_id = c.merchant_id and p.consent_id = c.id
    where c.status = 'AWAITING_AUTHORISATION' and c.expires_at <= now()
      and p.status in ('Initiated', 'AwaitingAuthorisation')
      and c.expires_at >= ${after.expires_at}::timestamptz
      and (c.expires_at, p.id) > (${after.expires_at}::timestamptz, ${after.id}::uuid)
    order by c.expires_at, p.id
    limit ${limit}
  `)
}

/** Locks a payment's row until the end of the transaction, and reads it. */
export async function lockPaymentRow(
  tx: DatabaseTransactionConnection,
  key: { merchantId: string; id: string },
): Promise<PaymentRecord | null> {
  return tx.maybeOne(sql.type(PaymentRecord)`
    select ${paymentColumns}
    from ${paymentTables}
    where p.merchant_id = ${key.merchantId} and p.id = ${key.id}
    for update of p
  `)
}

/** The connector of the payment that a merchant created with this idempotency key; null where there is none. */
export async function findBankOfKey(
  tx: CommonQueryMethods,
  { merchantId, idempotencyKey }: { merchantId: string; idempotencyKey: string },
): Promise<string | null> {
  const found = await tx.maybeOne(sql.type(z.object({ bank_connector: z.string() }))`
    select bank_connector from payment_intents where merchant_id = ${merchantId} and idempotency_key = ${idempotencyKey}
  `)
  return found?.bank_connector ?? null
}

/** Takes the next sequence number of a payment's webhooks, for an event that is not a change of the payment's status. */
export async function takeWebhookSequence(
  tx: DatabaseTransactionConnection,
  key: { merchantId: string; id: string },
): Promise<number> {
  const { webhook_sequence } = await tx.one(sql.type(z.object({ webhook_sequence: z.int() }))`
    update payment_intents
    set webhook_sequence = webhook_sequence + 1
    where merchant_id = ${key.merchantId} and id = ${key.id}
    returning webhook_sequence
  `)
  return webhook_sequence
}
