import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { growingWait } from '../../banks/wait-sql.ts'
import type { WaitBounds } from '../../banks/wait-sql.ts'
import { sql } from '../../db/sql.ts'
import { ClaimedRefund, ListedRefund, PayerAccount, RefundRecord } from './record.ts'

const refundColumns = sql.fragment`
  r.id, r.merchant_id, r.payment_intent_id, r.dispute_id, r.amount, r.reason, r.status, r.failure_code,
  r.request_fingerprint, r.raw_payload, r.end_to_end_id
`

/** The refund that was created with this idempotency key. */
export function findRefundByKey(
  tx: CommonQueryMethods,
  key: { merchantId: string; paymentId: string; idempotencyKey: string },
): Promise<RefundRecord | null> {
  return tx.maybeOne(sql.type(RefundRecord)`
    select ${refundColumns}
    from payment_refunds r
    where r.merchant_id = ${key.merchantId} and r.payment_intent_id = ${key.paymentId}
      and r.idempotency_key = ${key.idempotencyKey}
  `)
}

/** A refund by its id. */
export function findRefund(
  tx: CommonQueryMethods,
  key: { merchantId: string; id: string },
): Promise<RefundRecord | null> {
  return tx.maybeOne(sql.type(RefundRecord)`
    select ${refundColumns} from payment_refunds r where r.merchant_id = ${key.merchantId} and r.id = ${key.id}
  `)
}

/** Locks a refund that waits for a file, after its payment; false where it does not wait any more. */
export async function lockWaitingRefund(
  tx: DatabaseTransactionConnection,
  key: { merchantId: string; id: string },
): Promise<boolean> {
  const row = await tx.maybeOne(sql.type(z.object({ id: z.string() }))`
    select r.id from payment_refunds r
    where r.merchant_id = ${key.merchantId} and r.id = ${key.id} and r.status = 'PENDING' and r.file_id is null
    for update
  `)
  return row !== null
}

/** Whose refund this is. Refunds have no index by their id alone: each merchant is asked, one probe of the key for each. */
export function findMerchantOfRefund(tx: CommonQueryMethods, id: string): Promise<string | null> {
  return tx.maybeOneFirst(sql.type(z.object({ merchant_id: z.string() }))`
    select own.merchant_id
    from merchants m
    cross join lateral (select merchant_id from payment_refunds where merchant_id = m.id and id = ${id} limit 1) own
    limit 1
  `)
}

export type NewRefund = {
  id: string
  merchantId: string
  paymentId: string
  /** numeric(19,4) text. */
  amount: string
  reason: string | null
  idempotencyKey: string | null
  fingerprint: string
  /** The request's body as JSON text. */
  rawPayload: string
  /** The dispute whose resolution ordered it, if any. */
  disputeId: string | null
  /** Seconds after which the job asks the bank, where no answer is recorded by then. */
  resumeSeconds: number
  /** Of a refund that goes to the bank in a file: no job asks a bank about it. */
  endToEndId: string | null
  /** The trace of the request; undefined for that of the payment. */
  trace: { traceparent: string; isOwn: boolean } | undefined
}

/** Records a refund as PENDING and reserves its amount on the payment, whose row is locked. */
export async function insertRefund(tx: DatabaseTransactionConnection, refund: NewRefund): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    with reserved as (
      update payment_intents
      set refund_reserved_amount = refund_reserved_amount + ${refund.amount}::numeric, updated_at = now()
      where merchant_id = ${refund.merchantId} and id = ${refund.paymentId}
    )
    insert into payment_refunds (
      id, merchant_id, payment_intent_id, amount, reason, idempotency_key, request_fingerprint, raw_payload, dispute_id,
      resume_at, end_to_end_id, traceparent, is_own_trace
    )
    values (
      ${refund.id}, ${refund.merchantId}, ${refund.paymentId}, ${refund.amount}::numeric, ${refund.reason},
      ${refund.idempotencyKey}, ${refund.fingerprint}, ${refund.rawPayload}, ${refund.disputeId}::uuid,
      case when ${refund.endToEndId}::text is null then now() + make_interval(secs => ${refund.resumeSeconds}) end,
      ${refund.endToEndId}, ${refund.trace?.traceparent ?? null}, ${refund.trace?.isOwn ?? null}
    )
  `)
}

/** Makes a PENDING refund due for the job. */
export async function makeRefundDue(tx: CommonQueryMethods, refund: { merchantId: string; id: string }): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update payment_refunds set resume_at = now(), updated_at = now()
    where resume_at is not null and merchant_id = ${refund.merchantId} and id = ${refund.id} and status = 'PENDING'
  `)
}

/** Finishes a PENDING refund; false where another process finished it before. */
export async function finishRefund(
  tx: DatabaseTransactionConnection,
  refund: {
    merchantId: string
    id: string
    status: 'EXECUTED' | 'FAILED'
    failureCode: string | null
    bankReference: string | null
  },
): Promise<boolean> {
  const ended = await tx.query(sql.type(z.object({}))`
    update payment_refunds
    set status = ${refund.status}::refund_status, failure_code = ${refund.failureCode},
      bank_reference = ${refund.bankReference}, updated_at = now()
    where merchant_id = ${refund.merchantId} and id = ${refund.id} and status = 'PENDING'
  `)
  return ended.rowCount === 1
}

/** Releases the reserved amount of a finished refund, and adds `refunded` to the payment's refunded amount. */
export async function releaseReservation(
  tx: DatabaseTransactionConnection,
  amounts: { merchantId: string; paymentId: string; reserved: string; refunded: string },
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update payment_intents
    set refund_reserved_amount = refund_reserved_amount - ${amounts.reserved}::numeric,
      refunded_amount = refunded_amount + ${amounts.refunded}::numeric, updated_at = now()
    where merchant_id = ${amounts.merchantId} and id = ${amounts.paymentId}
  `)
}

/** Queues a webhook about a payment whose status does not change (decision 21). */
export async function enqueuePaymentWebhook(
  tx: DatabaseTransactionConnection,
  webhook: {
    merchantId: string
    paymentId: string
    deliveryId: string
    eventId: string
    eventType: string
    /** JSON text, or null. */
    failure: string | null
    /** JSON text. */
    refund: string
    test: boolean
    /** Undefined for the trace of the payment. */
    traceparent: string | undefined
  },
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    with numbered as (
      update payment_intents
      set webhook_sequence = webhook_sequence + 1
      where merchant_id = ${webhook.merchantId} and id = ${webhook.paymentId}
      returning *
    )
    insert into webhook_deliveries (id, merchant_id, payment_intent_id, event_id, event_type, payload, next_retry_at, sequence, traceparent)
    select ${webhook.deliveryId}, p.merchant_id, p.id, ${webhook.eventId}, ${webhook.eventType},
      payment_envelope(
        ${webhook.eventId}, ${webhook.eventType}, p.id, p.end_to_end_id, p.consent_id, p.merchant_id, p.gross_amount,
        p.fee_amount, p.net_amount, p.currency, p.status, p.status, c.debtor_bank_id, ${webhook.failure}, ${webhook.refund},
        p.webhook_sequence, ${webhook.test}
      ),
      first_attempt_at(m.webhook_url), p.webhook_sequence, coalesce(${webhook.traceparent ?? null}, p.traceparent)
    from numbered p
    join payment_consents c on c.merchant_id = p.merchant_id and c.id = p.consent_id
    join merchants m on m.id = p.merchant_id
  `)
}

/** Claims PENDING refunds that have no answer in time, for a wait within these bounds that grows with their age. */
export function claimRefunds(
  tx: CommonQueryMethods,
  { limit, ...bounds }: { limit: number } & WaitBounds,
): Promise<readonly ClaimedRefund[]> {
  return tx.any(sql.type(ClaimedRefund)`
    update payment_refunds r
    set resume_at = now() + ${growingWait(sql.fragment`r.created_at`, bounds)}, attempt_count = r.attempt_count + 1, updated_at = now()
    from (
      select merchant_id, id, payment_intent_id
      from payment_refunds
      where status = 'PENDING' and resume_at <= now()
      order by resume_at
      limit ${limit}
      for update skip locked
    ) due
    join payment_intents p on p.merchant_id = due.merchant_id and p.id = due.payment_intent_id
    where r.merchant_id = due.merchant_id and r.id = due.id
    returning ${refundColumns}, coalesce(r.traceparent, p.traceparent) as traceparent,
      coalesce(r.is_own_trace, false) as is_own_trace
  `)
}

const listedRefunds = sql.fragment`
  select r.id, r.payment_intent_id, r.amount, p.currency, r.status, r.reason, r.failure_code, r.bank_reference,
    r.end_to_end_id, r.sent_at, r.created_at, r.updated_at
  from payment_refunds r
  join payment_intents p on p.merchant_id = r.merchant_id and p.id = r.payment_intent_id
`

/** A refund as lists show it. */
export function getListedRefund(
  tx: CommonQueryMethods,
  key: { merchantId: string; id: string },
): Promise<ListedRefund> {
  return tx.one(sql.type(ListedRefund)`${listedRefunds} where r.merchant_id = ${key.merchantId} and r.id = ${key.id}`)
}

/** The refunds of one payment, the oldest first, after the one with id `afterId`. */
export function listRefundRows(
  tx: CommonQueryMethods,
  { limit, afterId, ...key }: { merchantId: string; id: string; limit: number; afterId: string | undefined },
): Promise<readonly ListedRefund[]> {
  const isAfter =
    afterId === undefined
      ? sql.fragment`true`
      : sql.fragment`(r.created_at, r.id) > (
          select a.created_at, a.id
          from payment_refunds a
          where a.merchant_id = ${key.merchantId} and a.payment_intent_id = ${key.id} and a.id = ${afterId}
        )`
  return tx.any(sql.type(ListedRefund)`
    ${listedRefunds}
    where r.merchant_id = ${key.merchantId} and r.payment_intent_id = ${key.id} and ${isAfter}
    order by r.created_at, r.id
    limit ${limit}
  `)
}

/**
 * The account of a consent `c` that its refunds go to: as the bank named it or, of a single payment, as the consent that the
 * payer approved at the bank had it. Of a mandate a bank never sees what the merchant said (decision 413).
 */
export const refundAccount = sql.fragment`
  c.debtor_account_scheme,
  case when c.debtor_is_from_bank or c.consent_type = 'SINGLE_IMMEDIATE' then c.debtor_identification end
    as debtor_identification
`

export function getPayerAccount(
  tx: CommonQueryMethods,
  { merchantId, consentId }: { merchantId: string; consentId: string },
): Promise<PayerAccount> {
  return tx.one(sql.type(PayerAccount)`
    select c.merchant_id, c.id as consent_id, ${refundAccount}
    from payment_consents c
    where c.merchant_id = ${merchantId} and c.id = ${consentId}
  `)
}
