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
  -- The file that has it; a payout is in one file only.
  file_id uuid references payout_files (id),
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
create index payouts__file_id on payouts (file_id) where file_id is not null;
create index payouts__to_file on payouts (created_at, id) where status = 'CREATED' and connector = 'file';
-- Lines of statements are looked up by the day on which a payout was sent.
create index payouts__sent_at on payouts (sent_at) where sent_at is not null;

grant select, insert on payouts to svc_runtime;
grant update (
  status, bank_reference, failure_code, changed_by, attempt_count, next_attempt_at, locked_until, retry_at, sent_at,
  paid_at, failed_at, returned_at, unexpected_return_at, updated_at, file_id
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

-- How far the returned payouts of each bank are read.
create table payout_return_positions (
  connector text primary key,
  position text not null,
  updated_at timestamptz not null default now()
);

grant select, insert, update on payout_return_positions to svc_runtime;
