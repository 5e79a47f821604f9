-- Settlements: what a merchant is owed for a period, per currency. Closing one moves its total from clearing to
-- merchant_payable in the ledger. functions/fold_ledger.sql lists the entries of the ledger that a settlement can have as
-- soon as it adds them to the kept balances, so that payments wait for none of this; functions/close_settlement.sql
-- assigns them to settlements. Both are the only writers.
-- needs: functions/settlement_period

-- Periods are in the merchant's own time (0027_sandbox_clock.sql), which is the real time in production.
create table settlements (
  id uuid not null,
  merchant_id uuid not null references merchants (id),
  currency char(3) not null,
  kind text not null check (kind in ('DAILY', 'WEEKLY', 'MANUAL')),
  period_from timestamptz not null,
  period_to timestamptz not null,
  -- What the settlement before left in clearing: a debt, or less than half a penny.
  opening_balance numeric(19, 4) not null,
  gross_amount numeric(19, 4) not null check (gross_amount >= 0),
  fee_amount numeric(19, 4) not null check (fee_amount >= 0),
  refunded_amount numeric(19, 4) not null check (refunded_amount >= 0),
  -- Corrections by hand, debts that payouts have kept back, both with either sign, and what rounding has added.
  corrected_amount numeric(19, 4) not null,
  deducted_amount numeric(19, 4) not null,
  rounding_amount numeric(19, 4) not null,
  net_amount numeric(19, 4) not null,
  -- The net amount where it can be paid, else zero: the next settlement opens with it.
  payable_amount numeric(19, 4) not null,
  line_count integer not null check (line_count > 0),
  -- Where the money would go at that moment, by the rule of payout_prospects; null without such an account.
  bank_account_id uuid,
  closed_at timestamptz not null default now(),
  -- The payout that pays it; null again when it failed or was returned.
  payout_id uuid,
  primary key (merchant_id, id),
  -- For cursors of operators.
  unique (id),
  foreign key (merchant_id, bank_account_id) references merchant_bank_accounts (merchant_id, id),
  foreign key (merchant_id, payout_id) references payouts (merchant_id, id),
  check (period_from < period_to),
  check (
    net_amount
      = opening_balance + gross_amount - fee_amount - refunded_amount + corrected_amount + deducted_amount
        + rounding_amount
  ),
  check (payable_amount = case when net_amount >= 0.005 then net_amount else 0 end),
  check (payable_amount = round(payable_amount, 2)),
  check (rounding_amount = 0 or payable_amount > 0 and abs(rounding_amount) <= 0.005)
);

-- One after the other, and lists, the newest first.
create unique index settlements__period on settlements (merchant_id, currency, period_to);
create index settlements__period_to__id on settlements (period_to desc, id desc);
create index settlements__merchant_id__period_to__id on settlements (merchant_id, period_to desc, id desc);
create index settlements__unpaid on settlements (merchant_id, currency) where payout_id is null and payable_amount > 0;
create index settlements__merchant_id__payout_id on settlements (merchant_id, payout_id) where payout_id is not null;

grant select, update (payout_id) on settlements to svc_runtime;

-- The entries of the ledger that change clearing, but for the settlements' own: a payment's gross amount, its fee, a
-- refund, a correction, a debt that a payout keeps back; and the rounding of a settlement. Each is in one settlement,
-- because it is one row here.
create table settlement_lines (
  merchant_id uuid not null,
  -- Of ledger_entries.
  ordinal bigint not null,
  currency char(3) not null,
  movement ledger_movement not null,
  -- A payment, for refunds the refund, a correction, for a debt the payout, or for rounding the settlement.
  subject_id uuid not null,
  -- What it adds to clearing.
  amount numeric(19, 4) not null,
  -- When it was posted, in the merchant's own time.
  occurred_at timestamptz not null,
  -- Null until a settlement closes the line's period. No foreign key: checking it for each line would take longer than
  -- the rest of closing.
  settlement_id uuid,
  primary key (merchant_id, ordinal)
);

create index settlement_lines__open on settlement_lines (merchant_id, currency, occurred_at) where settlement_id is null;
create index settlement_lines__settlement_id__ordinal on settlement_lines (merchant_id, settlement_id, ordinal)
  where settlement_id is not null;

grant select on settlement_lines to svc_runtime;

-- What the statements that close a period have added up so far: adding up millions of lines at the end would take longer
-- than a statement may. A row is there within the transaction only.
create table settlement_sums (
  merchant_id uuid not null,
  settlement_id uuid not null,
  line_count integer not null,
  gross_amount numeric(19, 4) not null,
  fee_amount numeric(19, 4) not null,
  refunded_amount numeric(19, 4) not null,
  corrected_amount numeric(19, 4) not null,
  deducted_amount numeric(19, 4) not null,
  primary key (merchant_id, settlement_id)
);

-- The period that is open per merchant and currency, if it has lines: its ends in the merchant's own time, and the real
-- time at which it is to be closed, null where that is done by hand.
create view open_settlements as
select k.merchant_id, k.currency, m.settlement_schedule, greatest(k.settled_until, oldest.starts_at) as period_from,
  period.ends_at as period_to, period.ends_at - clock.ahead as due_at, now() + clock.ahead as merchant_time
from ledger_kept_balances k
join merchants m on m.id = k.merchant_id
cross join lateral (
  select coalesce(sum(s.moved_by), interval '0') as ahead from sandbox_clock_shifts s where s.subject_id = k.merchant_id
) clock
cross join lateral settlement_period(m.settlement_schedule, k.unsettled_since) oldest
-- An entry that was posted too late for its own period is in the next one.
cross join lateral settlement_period(m.settlement_schedule, greatest(k.unsettled_since, k.settled_until)) period
where k.unsettled_since is not null;

grant select on open_settlements to svc_runtime;
-- The sandbox waits until the entries of a merchant are in its periods.
grant select on ledger_unfolded to svc_runtime;

-- Merchants and currencies with closed settlements that no payout pays: the account that they go to, which is the newest
-- active one and outside Britain needs an IBAN; what stands in the way; and when a payout may be created: after a failure
-- not at once, and where the bank rejected the account not before there is another.
create view payout_prospects as
select s.merchant_id, s.currency, target.bank_account_id, coalesce(last.retry_at, '-infinity') as due_at,
  case
    when m.kyb_status <> 'APPROVED' then 'MERCHANT_NOT_APPROVED'
    when not m.is_active then 'MERCHANT_INACTIVE'
    when m.payout_held then 'PAYOUT_HELD'
    when target.bank_account_id is null then 'BANK_ACCOUNT_MISSING'
    when owed.amount <= 0 and last.retry_at is distinct from 'infinity' then 'MERCHANT_IN_DEBT'
  end as blocked_by
from (select distinct merchant_id, currency from settlements where payout_id is null and payable_amount > 0) s
join merchants m on m.id = s.merchant_id
left join lateral (
  select a.id as bank_account_id
  from merchant_bank_accounts a
  where a.merchant_id = s.merchant_id and a.is_active and (s.currency = 'GBP' or a.encrypted_iban is not null)
  order by a.created_at desc, a.id desc
  limit 1
) target on true
left join lateral (
  select case when l.retry_at < 'infinity' or l.bank_account_id = target.bank_account_id then l.retry_at end as retry_at
  from payouts l
  where l.merchant_id = s.merchant_id and l.currency = s.currency
  order by l.created_at desc, l.id desc
  limit 1
) last on true
left join lateral (
  select sum(b.balance) filter (where b.account = 'merchant_payable')
    + least(round(sum(b.balance) filter (where b.account = 'clearing'), 2), 0) as amount
  from ledger_balances b
  where b.merchant_id = s.merchant_id and b.currency = s.currency
) owed on true;

-- Those that nothing stands in the way of.
create view payout_payees as
select merchant_id, currency, bank_account_id, due_at from payout_prospects where blocked_by is null;

grant select on payout_prospects to svc_runtime;
grant select on payout_payees to svc_runtime;
