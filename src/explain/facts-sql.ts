import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { UNRESOLVED } from '../disputes/deadline-sql.ts'
import { disputeSummaryColumns, disputeTables } from '../disputes/read-sql.ts'
import { DisputeSummaryRecord } from '../disputes/record.ts'
import { PaymentRecord } from '../payments/record.ts'
import { refundAccount } from '../payments/refunds/sql.ts'
import { paymentColumns, paymentTables } from '../payments/sql.ts'
import { isOpenTask } from '../payments/unanswered-sql.ts'
import { PayoutRecord } from '../payouts/record.ts'
import { mayBePaid, payoutColumns } from '../payouts/sql.ts'
import { SettlementRecord } from '../settlements/record.ts'
import { settlementColumns } from '../settlements/sql.ts'
import { recordColumns } from '../webhooks/log-sql.ts'
import { DeliveryRecord } from '../webhooks/record.ts'
import { KybStatus } from '../wire/admin.ts'
import { DisputeReason, DisputeStatus } from '../wire/dispute-fields.ts'
import { ACTIONS_READ_MAX, Endpoint, Held, endpoint, held, isLeased, isTest } from './subjects-sql.ts'
import type { Subject } from './subjects-sql.ts'

/** How far what is open at a merchant is counted. */
const COUNTED_MAX = 1_000

const Text = z.string()
const TextOrNull = z.string().nullable()

export type Settings = {
  /** For how many days after its creation a payment can be disputed. */
  disputeWindowDays: number
  /** Connectors whose API refunds; the refunds of all others go to the bank in a file. */
  apiRefundBanks: readonly string[]
}

/** A payment without anything of its payer or any secret. `now` is the time of the read, by the database's clock. */
const HIDDEN = {
  payer_name: true,
  remittance_reference: true,
  metadata: true,
  redirect_url: true,
  bank_consent_id: true,
} as const
const PaymentFacts = PaymentRecord.omit(HIDDEN).extend({
  now: Text,
  fee_percentage: Text,
  fee_flat: Text,
  remaining_amount: Text,
  settle_at: TextOrNull,
  /** The time of its last event, once no other can follow. */
  ended_at: TextOrNull,
  disputable_until: Text,
  /** By the side that has opened them. */
  dispute_counts: z.object({ payer: z.int(), merchant: z.int(), platform: z.int() }),
  open_dispute: z.object({ id: Text, status: DisputeStatus, reason: DisputeReason }).nullable(),
  /** Refunds that the bank has not answered, when it is asked next, and when about the newest of them. */
  pending_refund_count: z.int(),
  next_refund_at: TextOrNull,
  newest_refund_at: TextOrNull,
  /** Its refunds go to an account by file, and no bank has confirmed one for its currency (decision 413). */
  lacks_refund_account: z.boolean(),
  endpoint: Endpoint,
  has_held_webhooks: z.boolean(),
  /** An operator asks its bank what became of it. */
  is_unanswered: z.boolean(),
  /** Where its money is, once it has settled. */
  money: z.object({ settlement_id: TextOrNull, payout_id: TextOrNull, payout_status: TextOrNull }).nullable(),
})
export type PaymentFacts = z.infer<typeof PaymentFacts>

export function findPaymentFacts(tx: CommonQueryMethods, subject: Subject, settings: Settings): Promise<PaymentFacts> {
  const { merchant_id, id } = subject
  return tx.one(sql.type(PaymentFacts)`
    select ${paymentColumns}, now() as now, p.fee_percentage, p.fee_flat, p.settle_at, ${endpoint} as endpoint,
      p.gross_amount - p.refunded_amount - p.refund_reserved_amount as remaining_amount,
      case when p.status in ('Failed', 'Refunded') then (
        select max(e.created_at) from payment_events e where e.merchant_id = p.merchant_id and e.payment_intent_id = p.id
      ) end as ended_at,
      sandbox_moved_moment(p.merchant_id, p.created_at) + make_interval(days => ${settings.disputeWindowDays}) as disputable_until,
      (
        select jsonb_build_object(
          'payer', count(*) filter (where d.opened_by = 'PAYER'),
          'merchant', count(*) filter (where d.opened_by = 'MERCHANT'),
          'platform', count(*) filter (where d.opened_by = 'PLATFORM')
        )
        from disputes d where d.merchant_id = p.merchant_id and d.payment_intent_id = p.id
      ) as dispute_counts,
      (
        select jsonb_build_object('id', d.id, 'status', d.status, 'reason', d.reason) from disputes d
        where d.merchant_id = p.merchant_id and d.payment_intent_id = p.id and d.status in ${UNRESOLVED}
      ) as open_dispute,
      refunds.*,
      p.bank_connector <> all(${sql.array([...settings.apiRefundBanks], 'text')}) and not exists (
        select from (select ${refundAccount}) a
        where a.debtor_identification is not null and (
          a.debtor_account_scheme = 'UK.OBIE.IBAN' or a.debtor_account_scheme is not null and p.currency = 'GBP'
        )
      ) as lacks_refund_account,
      exists (
        select from webhook_deliveries d
        where d.merchant_id = p.merchant_id and d.payment_intent_id = p.id and d.next_retry_at = 'infinity'
          and d.status in ('PENDING', 'FAILED')
      ) as has_held_webhooks,
      exists (select from unanswered_payments u where u.payment_id = p.id and ${isOpenTask}) as is_unanswered,
      (
        select jsonb_build_object('settlement_id', s.id, 'payout_id', o.id, 'payout_status', o.status)
        from ledger_entries e
        left join settlement_lines l on l.merchant_id = e.merchant_id and l.ordinal = e.ordinal
        left join settlements s on s.merchant_id = e.merchant_id and s.id = l.settlement_id
        left join payouts o on o.merchant_id = e.merchant_id and o.id = s.payout_id
        where e.merchant_id = p.merchant_id and e.subject_id = p.id and e.movement = 'payment_settled'
      ) as money
    from ${paymentTables}
    join merchants m on m.id = p.merchant_id
    cross join lateral (
      select count(*)::int4 as pending_refund_count, min(r.resume_at) as next_refund_at,
        (array_agg(r.resume_at order by r.created_at desc, r.id desc))[1] as newest_refund_at
      from payment_refunds r
      where r.merchant_id = p.merchant_id and r.payment_intent_id = p.id and r.status = 'PENDING'
    ) refunds
    where p.merchant_id = ${merchant_id} and p.id = ${id}
  `)
}

const DeliveryFacts = DeliveryRecord.extend({
  now: Text,
  /** Whether it only tests the endpoint. */
  is_test: z.boolean(),
  /** Whether a worker is sending it at this moment, or has it next. */
  is_leased: z.boolean(),
  held: Held,
  endpoint: Endpoint,
  /** The payment's earlier event whose first attempt this one waits for (decision 38). */
  waits_for: TextOrNull,
  ended_at: TextOrNull,
})
export type DeliveryFacts = z.infer<typeof DeliveryFacts>

export function findDeliveryFacts(tx: CommonQueryMethods, { merchant_id, id }: Subject): Promise<DeliveryFacts> {
  return tx.one(sql.type(DeliveryFacts)`
    select ${recordColumns}, now() as now, ${isTest} as is_test, ${isLeased} as is_leased, ${held} as held,
      ${endpoint} as endpoint, d.delivered_at as ended_at,
      case when q.attempted = false then (
        select w.event_type
        from webhook_queue e
        join webhook_deliveries w on w.merchant_id = e.merchant_id and w.id = e.delivery_id
        where e.merchant_id = q.merchant_id and e.payment_intent_id = q.payment_intent_id and e.sequence < q.sequence
          and not e.attempted
        order by e.sequence
        limit 1
      ) end as waits_for
    from webhook_log d
    join merchants m on m.id = d.merchant_id
    left join webhook_queue q on q.merchant_id = d.merchant_id and q.delivery_id = d.id
    where d.merchant_id = ${merchant_id} and d.id = ${id}
  `)
}

/** A dispute without the statements of its parties. */
const DisputeFacts = DisputeSummaryRecord.omit({ payer_statement: true, statement: true }).extend({
  now: Text,
  next_refund_at: TextOrNull,
})
export type DisputeFacts = z.infer<typeof DisputeFacts>

export function findDisputeFacts(tx: CommonQueryMethods, { merchant_id, id }: Subject): Promise<DisputeFacts> {
  return tx.one(sql.type(DisputeFacts)`
    select ${disputeSummaryColumns}, now() as now, r.resume_at as next_refund_at from ${disputeTables}
    where d.merchant_id = ${merchant_id} and d.id = ${id}
  `)
}

const SettlementFacts = SettlementRecord.extend({
  id: Text,
  now: Text,
  payout_status: TextOrNull,
  may_be_paid: z.boolean(),
  has_account: z.boolean(),
})
export type SettlementFacts = z.infer<typeof SettlementFacts>

export function findSettlementFacts(tx: CommonQueryMethods, { merchant_id, id }: Subject): Promise<SettlementFacts> {
  return tx.one(sql.type(SettlementFacts)`
    select ${settlementColumns}, s.id, now() as now, o.status as payout_status, ${mayBePaid} as may_be_paid,
      exists (
        select from merchant_bank_accounts a
        where a.merchant_id = m.id and a.is_active and (s.currency = 'GBP' or a.encrypted_iban is not null)
      ) as has_account
    from settlements s
    left join payouts o on o.merchant_id = s.merchant_id and o.id = s.payout_id
    join merchants m on m.id = s.merchant_id
    where s.merchant_id = ${merchant_id} and s.id = ${id}
  `)
}

const PayoutFacts = PayoutRecord.extend({
  now: Text,
  may_be_paid: z.boolean(),
  /** When its bank returned it although it was not PAID here. */
  unexpected_return_at: TextOrNull,
  settlement_count: z.int(),
  /** The newest of them. */
  settlement_id: TextOrNull,
})
export type PayoutFacts = z.infer<typeof PayoutFacts>

export function findPayoutFacts(tx: CommonQueryMethods, { merchant_id, id }: Subject): Promise<PayoutFacts> {
  return tx.one(sql.type(PayoutFacts)`
    select ${payoutColumns}, p.unexpected_return_at, now() as now, ${mayBePaid} as may_be_paid, paid.*
    from payouts p
    join merchants m on m.id = p.merchant_id
    cross join lateral (
      select count(*)::int4 as settlement_count, (array_agg(s.id order by s.period_to desc))[1] as settlement_id
      from settlements s where s.merchant_id = p.merchant_id and s.payout_id = p.id
    ) paid
    where p.merchant_id = ${merchant_id} and p.id = ${id}
  `)
}

const MerchantFacts = z.object({
  now: Text,
  id: Text,
  trading_name: Text,
  realm_slug: TextOrNull,
  status: KybStatus,
  /** Whether the last KYB decision rejected it: one that was never approved was not suspended. */
  was_rejected: z.boolean(),
  is_active: z.boolean(),
  payout_held: z.boolean(),
  payout_held_at: TextOrNull,
  endpoint: Endpoint,
  /** Counted no further than a thousand, as open disputes are. */
  dead_delivery_count: z.int(),
  open_dispute_count: z.int(),
})
export type MerchantFacts = z.infer<typeof MerchantFacts>

export function findMerchantFacts(tx: CommonQueryMethods, { id }: Subject): Promise<MerchantFacts> {
  return tx.one(sql.type(MerchantFacts)`
    select now() as now, m.id, m.trading_name, m.realm_slug, m.kyb_status as status, m.is_active, m.payout_held,
      m.payout_held_at, ${endpoint} as endpoint,
      coalesce((
        select a.before ->> 'kyb_status' = 'PENDING' and a.after ->> 'kyb_status' = 'SUSPENDED'
        from (select * from operator_actions where merchant_id = m.id order by ordinal desc limit ${ACTIONS_READ_MAX}) a
        where a.action = 'merchant.kyb'
        order by a.ordinal desc
        limit 1
      ), false) as was_rejected,
      (
        select count(*)::int4
        from (
          select from webhook_deliveries
          where merchant_id = m.id and status = 'DEAD'
          limit ${COUNTED_MAX}
        ) dead
      ) as dead_delivery_count,
      (
        select count(*)::int4
        from (select from disputes where merchant_id = m.id and status in ${UNRESOLVED} limit ${COUNTED_MAX}) open
      ) as open_dispute_count
    from merchants m
    where m.id = ${id}
  `)
}
