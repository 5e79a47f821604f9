-- Orders of the Open Banking API: single payments and their outcome (contract §Surface A schemas; decision 1).
-- functions/guard_order_move.sql allows the moves.
create type order_status as enum (
  'Pending', 'Rejected', 'AcceptedSettlementInProcess', 'AcceptedSettlementCompleted', 'AcceptedWithoutPosting',
  'AcceptedCreditSettlementCompleted'
);

create table payment_orders (
  id uuid not null unique,
  customer_id uuid not null references customers (id),
  instruction_identification varchar(35) not null,
  end_to_end_identification varchar(35) not null,
  debtor_account_id uuid not null,
  creditor_scheme_name text not null check (
    creditor_scheme_name in ('UK.OBIE.SortCodeAccountNumber', 'UK.OBIE.IBAN')
  ),
  creditor_identification varchar(34) not null,
  creditor_name varchar(140),
  amount_minor bigint not null check (amount_minor > 0),
  currency char(3) not null,
  reference varchar(35),
  status order_status not null default 'Pending',
  -- ISO 20022, such as AM04; only of rejected orders.
  status_reason_code varchar(4),
  -- The recurring payment with the day of its run, or the request to pay, that created the order; null where the
  -- customer ordered it directly.
  recurring_payment_id uuid,
  run_day date,
  payment_request_id uuid,
  -- Until when a worker is executing it.
  locked_until timestamptz,
  -- How often its execution has failed.
  attempt_count integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (customer_id, id),
  foreign key (customer_id, debtor_account_id) references accounts (customer_id, id),
  foreign key (customer_id, recurring_payment_id) references recurring_payments (customer_id, id),
  check ((status = 'Rejected') = (status_reason_code is not null)),
  check ((recurring_payment_id is null) = (run_day is null))
);

-- The orders to execute: account by account, the oldest of each first.
create index payment_orders__open on payment_orders (debtor_account_id, created_at, id)
  where status in ('Pending', 'AcceptedSettlementInProcess');
-- One payment for each run, even if two workers execute it at once.
create unique index payment_orders__run on payment_orders (recurring_payment_id, run_day)
  where recurring_payment_id is not null;
create index payment_orders__customer_id__created_at on payment_orders (customer_id, created_at desc, id desc);

grant select, insert on payment_orders to svc_runtime;
grant update (status, status_reason_code, locked_until, attempt_count, updated_at) on payment_orders to svc_runtime;

-- Which idempotency key created which resource, kept for a day (decision 12). Scoped to client and customer, because
-- many customers share one app.
create table order_keys (
  customer_id uuid not null references customers (id),
  client_id text not null,
  path text not null,
  idempotency_key varchar(40) not null,
  request_fingerprint char(64) not null,
  resource_id uuid not null,
  created_at timestamptz not null default now(),
  primary key (customer_id, client_id, path, idempotency_key)
);
create index order_keys__created_at on order_keys (created_at);

grant select, insert, update, delete on order_keys to svc_runtime;
