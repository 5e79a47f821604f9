-- Recurring payments (specification, RecurringPaymentInitiation; decisions 2 to 4). The status tells of the set-up; each
-- run is a payment order of its own.
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
  -- The next run: its day in London and when it is due. Null where no run is left.
  next_run_day date,
  next_run_at timestamptz,
  -- Of a run that has failed: not before then again.
  retry_at timestamptz,
  run_count integer not null default 0,
  last_run_day date,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (customer_id, id),
  foreign key (customer_id, debtor_account_id) references accounts (customer_id, id),
  check ((next_run_day is null) = (next_run_at is null)),
  check (status = 'InitiationCompleted' or next_run_at is null)
);

-- A null counts for nothing in "greatest".
create index recurring_payments__due on recurring_payments (greatest(next_run_at, retry_at))
  where next_run_at is not null;
create index recurring_payments__customer_id__created_at on recurring_payments (customer_id, created_at desc, id desc);

alter table payment_orders
  add foreign key (customer_id, recurring_payment_id) references recurring_payments (customer_id, id);

-- The moves of instructions/recurring/states.ts, asserted by the database as well.
create function guard_recurring_move() returns trigger
language plpgsql
as $$
begin
  if (old.status, new.status) not in (
    ('InitiationPending', 'InitiationCompleted'), ('InitiationPending', 'InitiationFailed'),
    ('InitiationCompleted', 'Cancelled')
  ) then
    raise exception 'a recurring payment can''t move from % to %', old.status, new.status
      using errcode = 'check_violation';
  end if;
  return new;
end
$$;
create trigger guard_move before update of status on recurring_payments
  for each row when (old.status is distinct from new.status) execute function guard_recurring_move();

grant select, insert on recurring_payments to svc_runtime;
grant update (status, next_run_day, next_run_at, retry_at, run_count, last_run_day, updated_at) on recurring_payments
  to svc_runtime;
