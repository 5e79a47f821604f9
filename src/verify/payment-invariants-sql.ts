import { sql } from '../db/sql.ts'
import type { Invariant } from './invariant.ts'
import { rowsOf } from './part-sql.ts'

const source = 'payments'
const EXPLAIN = 'svc explain <payment>, then svc audit verify: the row or its history was changed behind the service'

/** What holds of each payment, beside its consent, its refunds and its audit events. */
export const PAYMENT_INVARIANTS = {
  PAYMENT_MONEY: {
    rule: 'the money on a payment adds up',
    action: `${EXPLAIN}; stop its refunds and payouts until the amounts are clear`,
    source,
    query: (part) => sql.fragment`
      select p.id::text as subject from ${rowsOf(source, 'p', part)}
      cross join lateral (
        select coalesce(sum(r.amount) filter (where r.status = 'EXECUTED'), 0) as executed,
          coalesce(sum(r.amount) filter (where r.status = 'PENDING'), 0) as pending
        from payment_refunds r where r.merchant_id = p.merchant_id and r.payment_intent_id = p.id
      ) r
      where not (
        p.amount = p.gross_amount and p.gross_amount > 0 and p.gross_amount <> 'NaN'
        and p.fee_amount = round(p.gross_amount * p.fee_percentage + p.fee_flat, 4)
        and p.net_amount = p.gross_amount - p.fee_amount and p.net_amount > 0
        and p.refunded_amount = r.executed and p.refund_reserved_amount = r.pending
        and (p.status = 'Refunded') = (p.refunded_amount = p.gross_amount)
        and (p.refunded_amount = 0 or p.status in ('Settled', 'Refunded'))
      )
    `,
  },
  PAYMENT_PATH: {
    rule: 'a payment went by legal moves from its creation to its status',
    action: EXPLAIN,
    source,
    query: (part) => sql.fragment`
      select distinct e.id::text as subject from (
        select p.id, p.status, v.ordinal, v.previous_status, v.new_status, lag(v.new_status) over w as before,
          row_number() over w as n, lead(v.ordinal) over w as after
        from ${rowsOf(source, 'p', part)}
        left join payment_events v on v.merchant_id = p.merchant_id and v.payment_intent_id = p.id
        window w as (partition by p.id order by v.ordinal)
      ) e
      where e.ordinal is null
        or (n = 1 and (previous_status is not null or new_status not in ('Initiated', 'AwaitingAuthorisation')))
        or (n > 1 and (previous_status is distinct from before or (previous_status, new_status) not in (
          ('Initiated', 'AwaitingAuthorisation'), ('Initiated', 'Failed'), ('AwaitingAuthorisation', 'Authorised'),
          ('AwaitingAuthorisation', 'Failed'), ('Authorised', 'Settled'), ('Authorised', 'Failed'), ('Settled', 'Refunded')
        )))
        or (after is null and new_status <> status)
    `,
  },
  PAYMENT_CONSENT: {
    rule: 'a payment and its consent agree',
    action: EXPLAIN,
    source,
    query: (part) => sql.fragment`
      select p.id::text as subject from ${rowsOf(source, 'p', part)}
      left join payment_consents c on c.merchant_id = p.merchant_id and c.id = p.consent_id
      where c.id is null or c.currency <> p.currency
        or (c.consent_type = 'SINGLE_IMMEDIATE' and (c.amount is distinct from p.amount or not case p.status
          when 'Failed' then c.status in ('REJECTED', 'EXPIRED', 'AUTHORISED')
          when 'Initiated' then c.status = 'AWAITING_AUTHORISATION'
          when 'AwaitingAuthorisation' then c.status = 'AWAITING_AUTHORISATION'
          else c.status = 'AUTHORISED'
        end))
        or (c.consent_type = 'SINGLE_IMMEDIATE' and (p.failure_code = 'CONSENT_EXPIRED') is distinct from (c.status = 'EXPIRED')
          and (p.failure_code = 'CONSENT_EXPIRED' or c.status = 'EXPIRED'))
        or (c.consent_type = 'VARIABLE_RECURRING' and p.failure_code = 'CONSENT_EXPIRED' and c.status <> 'EXPIRED'
          and c.expires_at > now())
        or (p.under_mandate and (c.consent_type <> 'VARIABLE_RECURRING' or c.status in ('AWAITING_AUTHORISATION', 'REJECTED')))
    `,
  },
  PAYMENT_DEBIT: {
    rule: 'the mock bank took no money before the payer had authorised it',
    action: `${EXPLAIN}; the payer is owed what the bank took`,
    source,
    query: (part) => sql.fragment`
      select p.id::text as subject from ${rowsOf(source, 'p', part)}
      join mock_bank.bank_debits d on d.payment_id = p.id
      where not p.under_mandate and p.status in ('Initiated', 'AwaitingAuthorisation')
    `,
  },
  PAYMENT_CHAIN: {
    rule: 'the audit events of a payment are an unbroken chain of hashes',
    action: 'svc audit verify: an event was changed, inserted or removed behind the service',
    source,
    query: (part) => sql.fragment`
      select distinct e.payment_intent_id::text as subject from (
        select v as event, v.payment_intent_id, v.prev_hash, v.event_hash,
          lag(v.event_hash, 1, repeat('0', 64)::bpchar) over (partition by v.payment_intent_id order by v.ordinal) as before
        from ${rowsOf(source, 'p', part)}
        join payment_events v on v.merchant_id = p.merchant_id and v.payment_intent_id = p.id
      ) e
      where e.prev_hash is distinct from e.before or e.event_hash is distinct from payment_event_hash(e.event)
    `,
  },
  AUDIT_PAYLOAD: {
    rule: 'the hash of an audited payload is right',
    action: 'svc audit verify: the payload of an event was changed behind the service',
    source,
    query: (part) => sql.fragment`
      select v.id::text as subject from ${rowsOf(source, 'p', part)}
      join payment_events v on v.merchant_id = p.merchant_id and v.payment_intent_id = p.id
      where v.raw_payload_sha256 is distinct from encode(sha256(convert_to(v.raw_payload::text, 'UTF8')), 'hex')
    `,
  },
  DISPUTE_PATH: {
    rule: 'a dispute is of money that moved, and went by legal moves to its status',
    action: 'svc explain <dispute>, then svc audit verify',
    source,
    query: (part) => sql.fragment`
      select distinct e.id::text as subject from (
        select d.id, d.status, d.resolved_at, d.refund_id, d.evidence_missing, d.merchant_evidence, p.status as payment_status,
          v.ordinal, v.event, v.previous_status, v.new_status, lag(v.new_status) over w as before,
          row_number() over w as n, lead(v.ordinal) over w as after
        from ${rowsOf(source, 'p', part)}
        join disputes d on d.merchant_id = p.merchant_id and d.payment_intent_id = p.id
        left join dispute_events v on v.merchant_id = d.merchant_id and v.dispute_id = d.id
        window w as (partition by d.id order by v.ordinal)
      ) e
      where payment_status not in ('Settled', 'Refunded') or ordinal is null
        or (n = 1) <> (event = 'opening') or previous_status is distinct from before
        or (after is null and new_status <> status)
        or (status::text like 'RESOLVED%') <> (resolved_at is not null)
        or (refund_id is not null and status <> 'RESOLVED_PAYER_FAVOUR')
        or (evidence_missing and merchant_evidence is not null)
    `,
  },
  DISPUTE_CHAIN: {
    rule: 'the events of a dispute are an unbroken chain of hashes',
    action: 'svc audit verify: an event was changed, inserted or removed behind the service',
    source,
    query: (part) => sql.fragment`
      select distinct e.dispute_id::text as subject from (
        select v as event, v.dispute_id, v.prev_hash, v.event_hash,
          lag(v.event_hash, 1, repeat('0', 64)::bpchar) over (partition by v.dispute_id order by v.ordinal) as before
        from ${rowsOf(source, 'p', part)}
        join disputes d on d.merchant_id = p.merchant_id and d.payment_intent_id = p.id
        join dispute_events v on v.merchant_id = d.merchant_id and v.dispute_id = d.id
      ) e
      where e.prev_hash is distinct from e.before or e.event_hash is distinct from dispute_event_hash(e.event)
    `,
  },
  DISPUTE_REFUND_OWNER: {
    rule: 'the refund of a dispute is one of its own payment, and of no other dispute',
    action: 'svc explain <dispute>; compare with the refunds of the payment before any more is refunded',
    source,
    query: (part) => sql.fragment`
      select d.id::text as subject from ${rowsOf(source, 'p', part)}
      join disputes d on d.merchant_id = p.merchant_id and d.payment_intent_id = p.id
      left join payment_refunds r on r.merchant_id = d.merchant_id and r.id = d.refund_id
      where d.refund_id is not null and (r.payment_intent_id is distinct from d.payment_intent_id
        or r.dispute_id is distinct from d.id)
    `,
  },
  DISPUTE_REFUND_AGAIN: {
    rule: 'what a dispute orders again the bank had rejected before',
    action: 'svc explain <dispute>: the payer may have been paid twice',
    source,
    query: (part) => sql.fragment`
      select r.id::text as subject from ${rowsOf(source, 'p', part)}
      join payment_refunds r on r.merchant_id = p.merchant_id and r.payment_intent_id = p.id
      left join disputes d on d.merchant_id = r.merchant_id and d.id = r.dispute_id
      where r.dispute_id is not null and (r.payment_intent_id is distinct from d.payment_intent_id
        or d.refund_id is distinct from r.id and r.status <> 'FAILED')
    `,
  },
} as const satisfies Record<string, Invariant>
