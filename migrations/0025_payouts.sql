-- Payouts: what a merchant is owed from closed settlements (merchant_payable in the ledger), sent to its bank account. A
-- payout is recorded as CREATED with its money set aside, then as SENT before the bank is asked, outside any transaction
-- and with the payout's id as idempotency key. A crash between any two of these steps is followed by the same question
-- again, so that one transfer is made.
create type payout_status as enum ('CREATED', 'SENT', 'PAID', 'FAILED', 'RETURNED');

create table payouts (
  id uuid not null,
  merchant_id uuid not null references merchants (id),
  currency char(3) not null,
  -- Settlements are rounded to two digits; more than that cannot be paid.
  amount numeric(19, 4) not null check (amount > 0 and amount <> 'NaN' and amount = round(amount, 2)),
  -- What the merchant owed in clearing when it was created, and so is not paid: its settlements made this much more payable.
  debt_deducted numeric(19, 4) not null default 0 check (debt_deducted >= 0),
  status payout_status not null default 'CREATED',
  bank_account_id uuid not null,
  -- The bank's API that sends it, or 'file' for an instruction file that an operator takes to the bank.
  connector text not null,
  end_to_end_id varchar(35) not null unique,
  bank_reference text,
  failure_code text,
  -- Of the last move.
  changed_by text not null default 'BATCH_JOB' check (changed_by in ('BATCH_JOB', 'OPERATOR')),
  attempt_count integer not null default 0,
  -- When the bank is asked (again), while CREATED or SENT.
  next_attempt_at timestamptz not null default now(),
  -- While a process asks the bank: the payout of one that dies becomes free when it ends.
  locked_until timestamptz,
  -- After a failure or return: when the next payout can take the money. 'infinity' where the bank rejected the account,
  -- until the merchant has another one or an operator retries.
  retry_at timestamptz,
  created_at timestamptz not null default now(),
  sent_at timestamptz,
  paid_at timestamptz,
  failed_at timestamptz,
  returned_at timestamptz,
  -- When its bank said that it had come back although it is not PAID here, as after a rejection that was wrong.
  unexpected_return_at timestamptz,
  updated_at timestamptz not null default now(),
  primary key (merchant_id, id),
  -- For cursors of operators.
  unique (id),
  foreign key (merchant_id, bank_account_id) references merchant_bank_accounts (merchant_id, id),
  check ((status in ('FAILED', 'RETURNED')) = (failure_code is not null)),
  check ((status in ('FAILED', 'RETURNED')) = (retry_at is not null)),
  check (status <> 'SENT' or sent_at is not null),
  check ((status in ('PAID', 'RETURNED')) = (paid_at is not null)),
  check ((status = 'FAILED') = (failed_at is not null)),
  check ((status = 'RETURNED') = (returned_at is not null))
);

create index payouts__next_attempt_at on payouts (next_attempt_at) where status in ('CREATED', 'SENT');
create index payouts__merchant_id__currency__created_at__id on payouts (merchant_id, currency, created_at desc, id desc);
create index payouts__merchant_id__created_at__id on payouts (merchant_id, created_at desc, id desc);
create index payouts__created_at__id on payouts (created_at desc, id desc);
create index payouts__unexpected_return_at on payouts (unexpected_return_at) where unexpected_return_at is not null;

grant select, insert on payouts to svc_runtime;
grant update (
  status, bank_reference, failure_code, changed_by, attempt_count, next_attempt_at, locked_until, retry_at, sent_at,
  paid_at, failed_at, returned_at, unexpected_return_at, updated_at
) on payouts to svc_runtime;

-- Every move of a payout. A trigger on the payout writes them (functions/record_payout_event.sql), and no login has a
-- right to insert. Append-only (functions/refuse_change.sql) and chained within the payout, as the events of payments
-- are (functions/seal_payout_event.sql).
create table payout_events (
  ordinal bigserial primary key,
  id uuid not null unique,
  merchant_id uuid not null,
  payout_id uuid not null,
  previous_status payout_status,
  new_status payout_status not null,
  changed_by text not null,
  prev_hash char(64) not null,
  event_hash char(64) not null,
  created_at timestamptz not null default now(),
  -- What is paid and where, on the first event only.
  bank_account_id uuid,
  amount numeric(19, 4),
  currency char(3),
  check (num_nonnulls(bank_account_id, amount, currency) = case when previous_status is null then 3 else 0 end),
  foreign key (merchant_id, payout_id) references payouts (merchant_id, id),
  -- payouts/states.ts has the same.
  constraint payout_events__transition check (
    case previous_status
      when 'CREATED' then new_status in ('SENT', 'FAILED')
      when 'SENT' then new_status in ('PAID', 'FAILED')
      when 'PAID' then new_status = 'RETURNED'
      else previous_status is null and new_status = 'CREATED'
    end
  )
);

create index payout_events__merchant_id__payout_id__ordinal on payout_events (merchant_id, payout_id, ordinal);

grant select on payout_events to svc_runtime;

alter table audit_checkpoints drop constraint audit_checkpoints_chain_check;
alter table audit_checkpoints add constraint audit_checkpoints_chain_check check (
  chain in (
    'operator_actions', 'payment_events', 'refund_events', 'dispute_events', 'payout_events', 'ledger_entries'
  )
);

-- The payout that pays a settlement; null again when it failed or was returned.
alter table settlements add column payout_id uuid;
alter table settlements add foreign key (merchant_id, payout_id) references payouts (merchant_id, id);
create index settlements__unpaid on settlements (merchant_id, currency) where payout_id is null and payable_amount > 0;
create index settlements__merchant_id__payout_id on settlements (merchant_id, payout_id) where payout_id is not null;

grant update (payout_id) on settlements to svc_runtime;

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

-- How far the returned payouts of each bank are read.
create table payout_return_positions (
  connector text primary key,
  position text not null,
  updated_at timestamptz not null default now()
);

grant select, insert, update on payout_return_positions to svc_runtime;

-- Payouts in the books of the mock bank, rejected ones too: a repeat gets the first answer.
create table mock_bank.payouts (
  payout_id uuid primary key,
  merchant_id uuid not null,
  amount numeric(19, 4) not null check (amount > 0 and amount <> 'NaN'),
  currency char(3) not null,
  -- The account that was asked for, as a keyed hash: a repeat must have the same.
  creditor_hash char(64) not null,
  -- The account of this bank that was credited; null for other banks.
  creditor_account_id uuid,
  debtor_account_id uuid,
  -- Null where it was executed.
  failure_code text,
  bank_reference text unique,
  created_at timestamptz not null default now(),
  -- For fault injection: the money comes back.
  will_return boolean not null default false,
  -- The order of returns.
  return_ordinal bigint unique,
  returned_at timestamptz,
  check ((failure_code is null) = (bank_reference is not null)),
  check (not will_return or failure_code is null),
  check ((return_ordinal is null) = (returned_at is null))
);

create index mock_bank_payouts__will_return on mock_bank.payouts (merchant_id) where will_return;

grant select, insert, update (will_return, return_ordinal, returned_at) on mock_bank.payouts to svc_runtime;

-- Shares of payouts that fail, and that are returned after they were paid.
alter table mock_bank.faults add column fail_payout smallint check (fail_payout between 0 and 10000);
alter table mock_bank.faults add column return_payout smallint check (return_payout between 0 and 10000);
alter table mock_bank.faults add column payouts bigint not null default 0;
