-- Customers of the bank, their accounts, and the bookings on them (contract §Surface A schemas). Amounts are whole
-- minor units of the account's currency. The mock bank keeps its money here too, so that money spent on one surface is
-- missing on the other.
create table customers (
  id uuid primary key,
  -- The `sub` of the customer's tokens (decision 9).
  external_customer_id text not null unique check (external_customer_id <> ''),
  name varchar(140) not null,
  email text,
  -- The merchant whose settlement account the customer owns; null for all other customers.
  merchant_id uuid unique references merchants (id),
  created_at timestamptz not null default now()
);

-- The names under which others find a customer (decision 5), normalised: an e-mail address in lower case, a mobile
-- number as E.164, or a name of the customer's own choice.
create table customer_proxies (
  proxy text primary key,
  kind text not null check (kind in ('EMAIL', 'MOBILE', 'PROXY')),
  customer_id uuid not null references customers (id)
);
create index customer_proxies__customer_id on customer_proxies (customer_id);

-- Programs that act as one customer: clients of the customers' realm that sign in with a secret of their own.
create table customer_clients (
  client_id text primary key,
  customer_id uuid not null references customers (id),
  created_at timestamptz not null default now()
);
create index customer_clients__customer_id on customer_clients (customer_id);

create table accounts (
  id uuid not null unique,
  customer_id uuid not null references customers (id),
  currency char(3) not null,
  account_type text not null check (account_type in ('Personal', 'Business')),
  account_sub_type text not null check (account_sub_type in ('CurrentAccount', 'Savings', 'CreditCard')),
  -- The holder's name as others see it, and the holder's own name for the account.
  name varchar(140) not null,
  nickname varchar(70),
  -- Six digits of sort code and eight of the account.
  sort_code_account_number char(14) unique check (sort_code_account_number ~ '^\d{14}$'),
  iban varchar(34) unique,
  status text not null default 'Enabled' check (status in ('Enabled', 'Blocked', 'Closed')),
  balance_minor bigint not null default 0,
  overdraft_limit_minor bigint not null default 0 check (overdraft_limit_minor >= 0),
  -- Also the number of the last transaction: a page of transactions is a range of numbers.
  transaction_count bigint not null default 0,
  last_booked_at timestamptz not null default '-infinity',
  created_at timestamptz not null default now(),
  primary key (customer_id, id),
  check (sort_code_account_number is not null or iban is not null),
  check (balance_minor >= -overdraft_limit_minor)
);
create index accounts__created_at on accounts (created_at, id);

-- Every movement of money, once for both of its sides. A side that is null is an account at another bank. Written by
-- book_transfer alone, and append-only, as transactions are (functions/refuse_change.sql).
create table transfers (
  id uuid primary key,
  debtor_account_id uuid references accounts (id),
  creditor_account_id uuid references accounts (id),
  amount_minor bigint not null check (amount_minor > 0),
  currency char(3) not null,
  booked_at timestamptz not null,
  check (debtor_account_id is not null or creditor_account_id is not null),
  check (debtor_account_id <> creditor_account_id)
);

-- The bookings of an account, numbered without gaps in the order of booking.
create table transactions (
  account_id uuid not null references accounts (id),
  number bigint not null check (number > 0),
  transfer_id uuid not null references transfers (id),
  amount_minor bigint not null check (amount_minor > 0),
  credit_debit_indicator text not null check (credit_debit_indicator in ('Credit', 'Debit')),
  status text not null default 'Booked' check (status in ('Booked', 'Pending')),
  booking_date_time timestamptz not null,
  -- The balance after this transaction.
  balance_minor bigint not null,
  -- The name of the other side, and the payer's reference.
  counterparty_name varchar(140),
  reference varchar(35),
  primary key (account_id, number)
);
create index transactions__account_id__booking_date_time on transactions (account_id, booking_date_time, number);
create index transactions__transfer_id on transactions (transfer_id);

grant select, insert on customers, customer_proxies, customer_clients, accounts to svc_runtime;
-- For the sandbox: an account is blocked, closed, or given another overdraft.
grant update (status, overdraft_limit_minor) on accounts to svc_runtime;
grant select on transfers, transactions to svc_runtime;
