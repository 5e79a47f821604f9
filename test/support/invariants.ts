import type pg from 'pg'

/**
 * What must hold of the database at any quiet moment, each as a query for what breaks it: no rows, or a bug. The mock
 * bank's books stand beside the service's own (I2) and beside its accounts (I9), the outbox beside the audit trail (I5).
 */
export const INVARIANTS = {
  'I1 the money on a payment adds up': `
    select p.id from payment_intents p
    left join lateral (
      select coalesce(sum(r.amount) filter (where r.status = 'EXECUTED'), 0) as executed,
        coalesce(sum(r.amount) filter (where r.status = 'PENDING'), 0) as pending
      from payment_refunds r where r.merchant_id = p.merchant_id and r.payment_intent_id = p.id
    ) r on true
    where not (
      p.amount = p.gross_amount and p.gross_amount > 0 and p.gross_amount <> 'NaN'
      and p.fee_amount = round(p.gross_amount * p.fee_percentage + p.fee_flat, 4)
      and p.net_amount = p.gross_amount - p.fee_amount and p.net_amount > 0
      and p.refunded_amount = r.executed and p.refund_reserved_amount = r.pending
      and (p.status = 'Refunded') = (p.refunded_amount = p.gross_amount)
      and (p.refunded_amount = 0 or p.status in ('Settled', 'Refunded'))
    )`,
  'I2 what was settled is what the bank took': `
    select coalesce(p.end_to_end_id, d.end_to_end_id) from (select * from payment_intents where status in ('Settled', 'Refunded')) p
    full join mock_bank.bank_debits d on d.end_to_end_id = p.end_to_end_id
    where p.id is null or d.payment_id is distinct from p.id or d.amount <> p.gross_amount or d.currency <> p.currency`,
  'I2 what was refunded is what the bank gave back': `
    select coalesce(r.id, c.refund_id) from (select * from payment_refunds where status = 'EXECUTED') r
    full join mock_bank.bank_credits c on c.refund_id = r.id
    where r.id is null or c.payment_id is distinct from r.payment_intent_id or c.amount <> r.amount`,
  'I3 each payment went by legal moves from its creation to its status': `
    with e as (
      select *, lag(new_status) over w as before, row_number() over w as n, lead(ordinal) over w as after
      from payment_events window w as (partition by payment_intent_id order by ordinal)
    )
    select p.id from payment_intents p left join e on e.payment_intent_id = p.id and e.merchant_id = p.merchant_id
    where e.ordinal is null
      or (n = 1 and (previous_status is not null or new_status not in ('Initiated', 'AwaitingAuthorisation')))
      or (n > 1 and (previous_status is distinct from before or (previous_status, new_status) not in (
        ('Initiated', 'AwaitingAuthorisation'), ('Initiated', 'Failed'), ('AwaitingAuthorisation', 'Authorised'),
        ('AwaitingAuthorisation', 'Failed'), ('Authorised', 'Settled'), ('Authorised', 'Failed'), ('Settled', 'Refunded')
      )))
      or (after is null and new_status <> p.status)`,
  'I4 consent and payment agree': `
    select p.id from payment_intents p left join payment_consents c on c.id = p.consent_id and c.merchant_id = p.merchant_id
    where c.id is null or c.currency <> p.currency
      or (c.consent_type = 'SINGLE_IMMEDIATE' and (c.amount is distinct from p.amount or not case p.status
        when 'Failed' then c.status in ('REJECTED', 'EXPIRED', 'AUTHORISED')
        when 'Initiated' then c.status = 'AWAITING_AUTHORISATION'
        when 'AwaitingAuthorisation' then c.status = 'AWAITING_AUTHORISATION'
        else c.status = 'AUTHORISED'
      end))
      or (c.consent_type = 'SINGLE_IMMEDIATE' and (p.failure_code = 'CONSENT_EXPIRED') is distinct from (c.status = 'EXPIRED') and (p.failure_code = 'CONSENT_EXPIRED' or c.status = 'EXPIRED'))
      or (c.consent_type = 'VARIABLE_RECURRING' and p.failure_code = 'CONSENT_EXPIRED' and c.status <> 'EXPIRED' and c.expires_at > now())
      or (p.under_mandate and (c.consent_type <> 'VARIABLE_RECURRING' or c.status in ('AWAITING_AUTHORISATION', 'REJECTED')))`,
  'I4 a webhook tells its own merchant of its own payment': `
    select d.id from webhook_deliveries d join payment_intents p on p.id = d.payment_intent_id
    cross join lateral (select d.event_type like 'dispute.%' as of_dispute, d.payload -> 'data' as data) w
    where d.merchant_id <> p.merchant_id
      or data ->> 'merchantId' is distinct from p.merchant_id::text
      or data ->> case when of_dispute then 'paymentId' else 'id' end is distinct from p.id::text
      or d.payload ->> 'eventId' is distinct from d.event_id
      or d.payload ->> 'eventType' is distinct from d.event_type
      or data ->> 'sequence' is distinct from d.sequence::text
      or data -> case when of_dispute then 'amount' else 'financials' end ->> 'grossAmount' is distinct from money_text(p.gross_amount)
      or data -> 'failure' ->> 'code' is distinct from p.failure_code and d.event_type = 'payment.failed'`,
  'I5 every change is told once, and nothing else': `
    with told (status, type) as (values
      ('AwaitingAuthorisation'::payment_status, 'payment.initiated'), ('Authorised', 'payment.authorized'),
      ('Settled', 'payment.settled'), ('Failed', 'payment.failed'), ('Refunded', 'payment.refunded')
    ),
    want as (
      select payment_intent_id as id, type, count(*) as n
      from (
        select payment_intent_id, type from payment_events join told on told.status = new_status
        union all
        select d.payment_intent_id, case e.event when 'opening' then 'dispute.opened' when 'escalation' then 'dispute.escalated' else 'dispute.resolved' end
        from dispute_events e join disputes d on d.id = e.dispute_id where e.event not like 'evidence%' and e.event <> 'refund ordered'
        union all
        select payment_intent_id, 'refund.failed' from payment_refunds where status = 'FAILED'
        union all
        -- Every refund but the one that completes the payment, which is told as payment.refunded.
        select r.payment_intent_id, 'payment.partially_refunded' from (
          select payment_intent_id, row_number() over (partition by payment_intent_id) as n, count(*) over (partition by payment_intent_id) as all_of_them
          from payment_refunds where status = 'EXECUTED'
        ) r join payment_intents p on p.id = r.payment_intent_id where p.status <> 'Refunded' or r.n < r.all_of_them
      ) each_one
      group by 1, 2
    ),
    have as (select payment_intent_id as id, event_type as type, count(*) as n from webhook_deliveries where payment_intent_id is not null group by 1, 2)
    select * from want full join have using (id, type) where want.n is distinct from have.n`,
  'I5 the webhooks of a payment are numbered 1 to n': `
    select p.id from payment_intents p
    left join (select payment_intent_id, count(*) as n, count(distinct sequence) as different, min(sequence) as first, max(sequence) as last from webhook_deliveries group by 1) d
      on d.payment_intent_id = p.id
    where coalesce(d.n, 0) <> p.webhook_sequence or (d.n > 0 and (d.first <> 1 or d.last <> d.n or d.different <> d.n))`,
  'I6 a dispute is of money that moved, and went by legal moves to its status': `
    with e as (
      select *, lag(new_status) over w as before, row_number() over w as n, lead(ordinal) over w as after
      from dispute_events window w as (partition by dispute_id order by ordinal)
    )
    select d.id from disputes d
    left join payment_intents p on p.merchant_id = d.merchant_id and p.id = d.payment_intent_id
    left join e on e.dispute_id = d.id and e.merchant_id = d.merchant_id
    where p.status is null or p.status not in ('Settled', 'Refunded') or e.ordinal is null
      or (n = 1) <> (e.event = 'opening') or previous_status is distinct from before
      or (after is null and new_status <> d.status)
      or (d.status::text like 'RESOLVED%') <> (d.resolved_at is not null)
      or (d.refund_id is not null and d.status <> 'RESOLVED_PAYER_FAVOUR')
      or (d.evidence_missing and d.merchant_evidence is not null)`,
  'I6 the refund of a dispute is one of its own payment, and of no other dispute': `
    select d.id from disputes d left join payment_refunds r on r.merchant_id = d.merchant_id and r.id = d.refund_id
    where d.refund_id is not null
      and (r.payment_intent_id is distinct from d.payment_intent_id or r.dispute_id is distinct from d.id or (select count(*) from disputes o where o.refund_id = d.refund_id) > 1)`,
  'I6 what a dispute orders again the bank had refused before': `
    select r.id from payment_refunds r left join disputes d on d.merchant_id = r.merchant_id and d.id = r.dispute_id
    where r.dispute_id is not null
      and (r.payment_intent_id is distinct from d.payment_intent_id or d.refund_id is distinct from r.id and r.status <> 'FAILED')`,
  'I7 what waits for an endpoint is parked, once and not queued, and nothing else is': `
    select coalesce(d.id, p.delivery_id) from (
      select * from webhook_deliveries where next_retry_at = 'infinity' and status in ('PENDING', 'FAILED')
    ) d
    full join webhook_parked p on p.merchant_id = d.merchant_id and p.delivery_id = d.id
    left join webhook_queue q on q.merchant_id = p.merchant_id and q.delivery_id = p.delivery_id
    where d.id is null or p.delivery_id is null or p.created_at <> d.created_at or q.delivery_id is not null`,
  'I7 what waits for a time is queued, and nothing else is': `
    select coalesce(d.id, q.delivery_id) from (
      select * from webhook_deliveries where next_retry_at < 'infinity' and status in ('PENDING', 'FAILED')
    ) d
    full join webhook_queue q on q.merchant_id = d.merchant_id and q.delivery_id = d.id
    where d.id is null or q.delivery_id is null`,
  'I8 the events of a dispute are an unbroken chain': `
    select e.ordinal from (
      select *, lag(event_hash, 1, repeat('0', 64)::bpchar) over (partition by dispute_id order by ordinal) as before from dispute_events
    ) e join dispute_events s on s.ordinal = e.ordinal
    where e.prev_hash is distinct from e.before or e.event_hash is distinct from dispute_event_hash(s)`,
  'I8 the hash of every audited payload is right': `
    select ordinal from payment_events where raw_payload_sha256 is distinct from encode(sha256(convert_to(raw_payload::text, 'UTF8')), 'hex')`,
  'I8 the audit events of a payment are an unbroken chain': `
    select e.ordinal from (
      select *, lag(event_hash, 1, repeat('0', 64)::bpchar) over (partition by payment_intent_id order by ordinal) as before from payment_events
    ) e join payment_events s on s.ordinal = e.ordinal
    where e.prev_hash is distinct from e.before or e.event_hash is distinct from payment_event_hash(s)`,
  'I9 no money is made or lost on the way': `
    select currency from (select currency, sum(balance_minor) as held from accounts group by 1) a
    full join (
      select currency, sum(case when debtor_account_id is null then amount_minor when creditor_account_id is null then -amount_minor else 0 end) as net
      from transfers group by 1
    ) t using (currency)
    where coalesce(held, 0) <> coalesce(net, 0)`,
  'I9 what is on an account is what was booked on it, without gaps': `
    with e as (
      select *, case credit_debit_indicator when 'Credit' then amount_minor else -amount_minor end as change,
        row_number() over w as n, lag(balance_minor, 1, 0::bigint) over w as before, lag(booking_date_time, 1, '-infinity') over w as earlier
      from transactions window w as (partition by account_id order by number)
    )
    select a.id from accounts a left join e on e.account_id = a.id
    where e.number <> e.n or e.balance_minor <> e.before + e.change or e.booking_date_time < e.earlier
      or (coalesce(e.number, 0) = a.transaction_count and a.balance_minor <> coalesce(e.balance_minor, 0))
      or a.transaction_count <> (select count(*) from transactions t where t.account_id = a.id)
      or a.balance_minor < -a.overdraft_limit_minor`,
  'I9 a transfer is booked once on each of its sides, and nothing else is': `
    with sides as (
      select id, debtor_account_id as account_id, 'Debit' as side, amount_minor, booked_at, currency from transfers where debtor_account_id is not null
      union all
      select id, creditor_account_id, 'Credit', amount_minor, booked_at, currency from transfers where creditor_account_id is not null
    )
    select coalesce(s.id, e.transfer_id) from sides s
    full join transactions e on e.transfer_id = s.id and e.account_id = s.account_id and e.credit_debit_indicator = s.side
    left join accounts a on a.id = s.account_id
    where s.id is null or e.transfer_id is null or e.amount_minor <> s.amount_minor or e.booking_date_time <> s.booked_at
      or a.currency is distinct from s.currency
    union all
    select transfer_id from transactions group by transfer_id, credit_debit_indicator having count(*) > 1`,
  'I9 what the mock bank took and gave back moved on its accounts': `
    with booked as (
      select payment_id as id, amount, currency, debtor_account_id as debtor, creditor_account_id as creditor
      from mock_bank.bank_debits where creditor_account_id is not null
      union all
      select c.refund_id, c.amount, c.currency, d.creditor_account_id, d.debtor_account_id
      from mock_bank.bank_credits c join mock_bank.bank_debits d on d.end_to_end_id = c.end_to_end_id where d.creditor_account_id is not null
    )
    select b.id from booked b left join transfers t on t.id = b.id
    where t.id is null or t.debtor_account_id is distinct from b.debtor or t.creditor_account_id is distinct from b.creditor
      or t.amount_minor <> b.amount * 100 or t.currency <> b.currency
    union all
    select d.payment_id from mock_bank.bank_debits d
    join mock_bank.authorisations s on s.end_to_end_id = d.end_to_end_id and s.payee_id is not null
    left join accounts a on a.id = d.creditor_account_id left join customers c on c.id = a.customer_id
    where c.merchant_id is distinct from s.payee_id or d.debtor_account_id is distinct from s.debtor_account_id
    union all
    select t.id from transfers t join payment_intents p on p.id = t.id left join mock_bank.bank_debits d on d.payment_id = t.id where d.payment_id is null
    union all
    select t.id from transfers t join payment_refunds r on r.id = t.id left join mock_bank.bank_credits c on c.refund_id = t.id where c.refund_id is null`,
  'I9 what the mock bank refused it did not do': `
    select r.id from mock_bank.refusals r
    where exists (select from transfers t where t.id = r.id) or exists (select from mock_bank.bank_debits d where d.payment_id = r.id)
      or exists (select from mock_bank.bank_credits c where c.refund_id = r.id)`,
  'I10 each movement of money is in the ledger once, with its amount': `
    with moved as (
      select merchant_id, 'payment_settled' as movement, id, gross_amount as amount, currency from payment_intents where status in ('Settled', 'Refunded')
      union all
      select merchant_id, 'fee_taken', id, fee_amount, currency from payment_intents where status in ('Settled', 'Refunded') and fee_amount > 0
      union all
      select r.merchant_id, case when r.dispute_id is null then 'payment_refunded' else 'dispute_refunded' end, r.id, r.amount, p.currency
      from payment_refunds r join payment_intents p on p.id = r.payment_intent_id where r.status = 'EXECUTED'
    )
    select coalesce(m.id, e.subject_id) from moved m
    full join (
      select * from ledger_entries where movement in ('payment_settled', 'fee_taken', 'payment_refunded', 'dispute_refunded')
    ) e on e.merchant_id = m.merchant_id and e.movement::text = m.movement and e.subject_id = m.id
    where m.id is null or (e.amount, e.currency) is distinct from (m.amount, m.currency)`,
  'I10 every currency of the ledger sums to zero, and its balances are the recount': `
    select currency from ledger_balances group by currency
    having sum(case normal_side when 'debit' then balance else -balance end) <> 0
    union all
    select coalesce(b.currency, r.currency) from ledger_balances b full join ledger_recount r using (merchant_id, currency, account)
    where coalesce(b.balance, 0) <> coalesce(r.balance, 0) or b.normal_side <> r.normal_side`,
  'I10 the hash of every entry of the ledger is right': `
    select ordinal::text from ledger_entries e where entry_hash <> ledger_entry_hash(e)`,
  'I11 each entry that changed clearing is one line of settlements, with its amount': `
    select coalesce(e.ordinal, l.ordinal)::text from (
      select e.*, case when credit = 'clearing' then amount else -amount end as added from ledger_entries e
      where 'clearing' in (debit, credit) and movement <> 'settlement_closed'
        and (movement in ('rounded_up', 'rounded_down') or not exists (select from ledger_unfolded u where u.ordinal = e.ordinal))
    ) e
    full join settlement_lines l on l.merchant_id = e.merchant_id and l.ordinal = e.ordinal
    where (e.added, e.currency, e.movement, e.subject_id) is distinct from (l.amount, l.currency, l.movement, l.subject_id)
      or l.movement in ('rounded_up', 'rounded_down') and l.settlement_id is distinct from l.subject_id`,
  'I11 a settlement is the sum of its lines, and what it moved is in the ledger': `
    select coalesce(s.id, l.settlement_id) from settlements s
    full join (
      select merchant_id, settlement_id, min(currency) as currency, min(currency) = max(currency) as is_one, count(*) as lines, sum(amount) as total,
        coalesce(sum(amount) filter (where movement = 'payment_settled'), 0) as gross,
        coalesce(sum(amount) filter (where movement = 'fee_taken'), 0) as fees,
        coalesce(sum(amount) filter (where movement in ('rounded_up', 'rounded_down')), 0) as rounding
      from settlement_lines where settlement_id is not null group by merchant_id, settlement_id
    ) l on l.merchant_id = s.merchant_id and l.settlement_id = s.id
    left join ledger_entries e on e.merchant_id = s.merchant_id and e.subject_id = s.id and e.movement = 'settlement_closed'
    where (l.currency, l.is_one, l.lines, s.opening_balance + l.total, l.gross, -l.fees, l.rounding)
        is distinct from (s.currency, true, s.line_count::bigint, s.net_amount, s.gross_amount, s.fee_amount, s.rounding_amount)
      or coalesce(e.amount, 0) <> s.payable_amount or e.currency <> s.currency`,
  'I11 settlements follow each other without overlap, and each opens with what the last one left': `
    select id from (
      select s.*, lag(period_to) over w as last_to, lag(net_amount - payable_amount, 1, 0.0000) over w as left_over
      from settlements s window w as (partition by merchant_id, currency order by period_to)
    ) s
    where opening_balance <> left_over or period_from < last_to or payable_amount < 0 or net_amount < 0 and payable_amount <> 0`,
  'I11 what clearing has is what settlements left and what is not settled yet': `
    select b.merchant_id::text || b.currency from ledger_balances b
    where b.account = 'clearing' and b.balance <> (
      select coalesce(sum(l.amount), 0) from settlement_lines l
      where l.merchant_id = b.merchant_id and l.currency = b.currency and l.settlement_id is null
    ) + (
      select coalesce(sum(case when e.credit = 'clearing' then e.amount else -e.amount end), 0)
      from ledger_unfolded u join ledger_entries e on e.ordinal = u.ordinal
      where e.merchant_id = b.merchant_id and e.currency = b.currency and 'clearing' in (e.debit, e.credit)
        and e.movement not in ('settlement_closed', 'rounded_up', 'rounded_down')
    ) + coalesce((
      select s.net_amount - s.payable_amount from settlements s
      where s.merchant_id = b.merchant_id and s.currency = b.currency order by s.period_to desc limit 1
    ), 0)`,
} as const satisfies Record<string, string>

export type Invariant = keyof typeof INVARIANTS

/** What must hold of the ledger and of settlements, also of entries that no payment made. */
export const MONEY_OWED: readonly Invariant[] = (Object.keys(INVARIANTS) as Invariant[]).filter((name) =>
  /^I11|^I10 (every currency|the hash)/.test(name),
)

/** The names of the invariants that do not hold; of these alone, where some are named. */
export async function brokenInvariants(
  client: pg.Client,
  among: readonly Invariant[] = Object.keys(INVARIANTS) as Invariant[],
): Promise<Invariant[]> {
  const broken: Invariant[] = []
  for (const name of among) {
    const { rowCount } = await client.query(INVARIANTS[name])
    if (rowCount !== 0) broken.push(name)
  }
  return broken
}
