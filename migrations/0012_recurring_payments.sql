-- Recurring payments (contract §RecurringPaymentInitiation; decisions 2 to 4). The status is that of the set-up; each
-- run is a payment order of its own. functions/guard_recurring_move.sql allows the moves.
create type recurring_status as enum ('InitiationPending', 'InitiationFailed', 'InitiationCompleted', 'Cancelled');

create table recurring_payments (
  id uuid not null unique,
  customer_id uuid not null references customers (id),
  frequency varchar(40) not null,
  first_payment_at timestamptz not null,
  next_payment_at timestamptz,
  final_payment_at timestamptz,
  debtor_account_id uuid not null,
  creditor_scheme_name text not null check (
    creditor_scheme_name in ('UK.OBIE.SortCodeAccountNumber', 'UK.OBIE.IBAN')
  ),
  creditor_identification varchar(34) not null,
  creditor_name varchar(140),
  amount_minor bigint not null check (amount_minor > 0),
  currency char(3) not null,
  reference varchar(35),
  status recurring_status not null,
  -- The next run: its day in London and the moment it is due. Null where no run is left.
  next_run_day date,
  next_run_at timestamptz,
  -- After a failed run: the moment before which it is not tried again.
  retry_at timestamptz,
  run_count integer not null default 0,
  last_run_day date,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- How far the sandbox clock is ahead for this schedule. The schedule keeps the calendar that was agreed, because a
  -- week is not 168 hours when the clocks change; only next_run_at is in real time, earlier by this much.
  clock_ahead interval not null default interval '0',
  primary key (customer_id, id),
  foreign key (customer_id, debtor_account_id) references accounts (customer_id, id),
  check ((next_run_day is null) = (next_run_at is null)),
  check (status = 'InitiationCompleted' or next_run_at is null)
);

-- "greatest" ignores nulls.
create index recurring_payments__due on recurring_payments (greatest(next_run_at, retry_at))
  where next_run_at is not null;
create index recurring_payments__customer_id__created_at on recurring_payments (customer_id, created_at desc, id desc);

grant select, insert on recurring_payments to svc_runtime;
grant update (status, next_run_day, next_run_at, retry_at, run_count, last_run_day, updated_at) on recurring_payments
  to svc_runtime;
