import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { OwnConsent, PayerPaymentRecord, PayerRefundRecord } from './record.ts'
import type { Contact } from './record.ts'

/** The condition that consent `c` has this contact; each kind of contact has its index. */
export function ofContact({ type, hash }: Contact) {
  return type === 'EMAIL' ? sql.fragment`c.payer_email_hash = ${hash}` : sql.fragment`c.payer_phone_hash = ${hash}`
}

function payerColumns(windowDays: number) {
  return sql.fragment`
    p.id, p.merchant_id, p.consent_id, c.consent_type, p.status, p.end_to_end_id, m.trading_name as merchant_name,
    p.gross_amount, p.fee_amount, p.net_amount, p.refunded_amount, p.currency, c.remittance_reference, c.debtor_bank_id,
    p.failure_code, p.failure_source, d.id as dispute_id, d.status as dispute_status, d.reason as dispute_reason,
    d.created_at as dispute_opened_at, d.resolution_note as dispute_resolution_note,
    (
      select count(*)::int from disputes a
      where a.merchant_id = p.merchant_id and a.payment_intent_id = p.id and a.opened_by = 'PAYER'
    ) as dispute_count,
    sandbox_moved_moment(p.merchant_id, p.created_at) > now() - make_interval(days => ${windowDays}) as is_within_window,
    p.created_at, p.updated_at
  `
}

/** Joins to payment `p`: its merchant, and its last dispute. */
const merchantAndLastDispute = sql.fragment`
  join merchants m on m.id = p.merchant_id
  left join lateral (
    select l.id, l.status, l.reason, l.created_at, l.resolution_note
    from disputes l
    where l.merchant_id = p.merchant_id and l.payment_intent_id = p.id
    order by l.created_at desc, l.id desc
    limit 1
  ) d on true
`

type PayerPaymentsFilter = { contact: Contact; windowDays: number; limit: number }

/**
 * The last payments of a contact, to every merchant. A consent for a single payment is as old as its payment, so the last
 * ones are found by the index of consents; each mandate, of which there are few, contributes its own last payments.
 */
export function listPayerPaymentRows(
  tx: CommonQueryMethods,
  { contact, windowDays, limit }: PayerPaymentsFilter,
): Promise<readonly PayerPaymentRecord[]> {
  return tx.any(sql.type(PayerPaymentRecord)`
    with own as (
      (
        select c.merchant_id, c.id
        from payment_consents c
        where ${ofContact(contact)} and c.consent_type = 'SINGLE_IMMEDIATE'
        order by c.created_at desc
        limit ${limit}
      )
      union all
      (
        select c.merchant_id, c.id
        from payment_consents c
        where ${ofContact(contact)} and c.consent_type = 'VARIABLE_RECURRING'
      )
    ),
    latest as (
      select p.merchant_id, p.id
      from own
      cross join lateral (
        select i.merchant_id, i.id, i.created_at
        from payment_intents i
        where i.consent_id = own.id and i.merchant_id = own.merchant_id
        order by i.created_at desc
        limit ${limit}
      ) p
      order by p.created_at desc, p.id desc
      limit ${limit}
    )
    select ${payerColumns(windowDays)}
    from latest
    join payment_intents p on p.merchant_id = latest.merchant_id and p.id = latest.id
    join payment_consents c on c.merchant_id = p.merchant_id and c.id = p.consent_id
    ${merchantAndLastDispute}
    order by p.created_at desc, p.id desc
  `)
}

/**
 * A payment with this contact; null for an unknown id and for another payer's alike. `hold`: until the transaction's end
 * its consent keeps the contact (migrations/functions/erase_payer.sql).
 */
export function findPayerPayment(
  tx: CommonQueryMethods,
  { contact, windowDays, id, hold = false }: { contact: Contact; windowDays: number; id: string; hold?: boolean },
): Promise<PayerPaymentRecord | null> {
  return tx.maybeOne(sql.type(PayerPaymentRecord)`
    select ${payerColumns(windowDays)}
    from payment_intents p
    join payment_consents c on c.merchant_id = p.merchant_id and c.id = p.consent_id
    ${merchantAndLastDispute}
    where p.id = ${id} and ${ofContact(contact)}
    ${hold ? sql.fragment`for share of c` : sql.fragment``}
  `)
}

/** The executed refunds of a payment, the oldest first. */
export function listExecutedRefunds(
  tx: CommonQueryMethods,
  { merchantId, paymentId }: { merchantId: string; paymentId: string },
): Promise<readonly PayerRefundRecord[]> {
  return tx.any(sql.type(PayerRefundRecord)`
    select amount, updated_at as refunded_at
    from payment_refunds
    where merchant_id = ${merchantId} and payment_intent_id = ${paymentId} and status = 'EXECUTED'
    order by updated_at, id
  `)
}

/** The merchant of a consent with this contact; null for an unknown id and for another payer's alike. */
export function findPayerConsent(
  tx: CommonQueryMethods,
  { contact, id }: { contact: Contact; id: string },
): Promise<OwnConsent | null> {
  return tx.maybeOne(sql.type(OwnConsent)`
    select c.merchant_id from payment_consents c where ${ofContact(contact)} and c.id = ${id}
  `)
}

const LeaveContactRow = z.object({ outcome: z.enum(['KEPT', 'KNOWN', 'NOT_TAKEN']) })

/** Stores a contact on a payment's consent: KNOWN where it has one of either kind, NOT_TAKEN where it accepts none. */
export async function leaveContactRow(
  tx: CommonQueryMethods,
  { merchantId, paymentId, contact }: { merchantId: string; paymentId: string; contact: Contact },
): Promise<z.infer<typeof LeaveContactRow>['outcome']> {
  const { type, hash } = contact
  const { outcome } = await tx.one(sql.type(LeaveContactRow)`
    select leave_payer_contact(
      ${merchantId}::uuid, ${paymentId}::uuid, ${type === 'EMAIL' ? hash : null}::text, ${type === 'PHONE' ? hash : null}::text
    ) as outcome
  `)
  return outcome
}
