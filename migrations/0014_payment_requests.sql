-- Requests to pay and offers to pay (contract §RequestToPay and OfferToPay; decisions 5 and 6): one state machine with
-- the sides swapped. `customer_id` is the customer who made it, `counterparty_id` the one who received it.
-- functions/guard_payment_request_move.sql allows the moves.
create type payment_request_kind as enum ('RequestToPay', 'OfferToPay');
create type payment_request_status as enum ('Sent', 'Accepted', 'Rejected', 'Paid');

create table payment_requests (
  id uuid not null unique,
  customer_id uuid not null references customers (id),
  counterparty_id uuid not null references customers (id),
  kind payment_request_kind not null,
  -- PayeeName of a request, PayerName of an offer; and the identifier of the other side as its sender wrote it.
  name varchar(140) not null,
  identifier varchar(320) not null,
  amount_minor bigint not null check (amount_minor > 0),
  currency char(3) not null,
  due_date date,
  expires_at timestamptz not null,
  reference varchar(35),
  status payment_request_status not null default 'Sent',
  -- ISO 20022; only of rejected requests.
  status_reason_code varchar(4),
  -- The maker's account: credited by a request, debited by an offer. And the account of the other side, once accepted.
  account_id uuid not null,
  counterparty_account_id uuid,
  -- The payment order that its acceptance created, which belongs to the payer.
  payer_id uuid not null,
  order_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (customer_id, id),
  foreign key (customer_id, account_id) references accounts (customer_id, id),
  foreign key (counterparty_id, counterparty_account_id) references accounts (customer_id, id),
  foreign key (payer_id, order_id) references payment_orders (customer_id, id) deferrable initially deferred,
  check (customer_id <> counterparty_id),
  check (payer_id = case kind when 'RequestToPay' then counterparty_id else customer_id end),
  check ((kind = 'RequestToPay') = (due_date is not null)),
  check ((status = 'Rejected') = (status_reason_code is not null)),
  check (status not in ('Accepted', 'Paid') or order_id is not null)
);

-- Requests and orders refer to each other, so this half follows here.
alter table payment_orders add foreign key (payment_request_id) references payment_requests (id);

create index payment_requests__customer_id__created_at on payment_requests (customer_id, kind, created_at desc, id desc);
create index payment_requests__counterparty_id__created_at on payment_requests (
  counterparty_id, kind, created_at desc, id desc
);
create index payment_requests__open on payment_requests (customer_id, counterparty_id) where status = 'Sent';
create index payment_requests__expires_at on payment_requests (expires_at) where status = 'Sent';
create unique index payment_requests__order_id on payment_requests (order_id) where order_id is not null;

grant select, insert on payment_requests to svc_runtime;
grant update (status, status_reason_code, counterparty_account_id, order_id, updated_at) on payment_requests to svc_runtime;

-- Look-ups of customers whom the bank does not know, kept for an hour: too many are rejected, so that the directory
-- cannot be searched by guessing.
create table failed_look_ups (
  customer_id uuid not null references customers (id),
  created_at timestamptz not null default clock_timestamp()
);
create index failed_look_ups__customer_id__created_at on failed_look_ups (customer_id, created_at);

grant select, insert, delete on failed_look_ups to svc_runtime;
