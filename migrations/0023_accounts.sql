-- The account information model (specification, Resources): customers of the bank, their accounts, and what was booked on
-- them. Amounts are whole minor units of the account's currency. The mock bank keeps its money here too, so that what a
-- payer pays on one surface is missing on the other.
create table customers (
  id uuid primary key,
  -- The `sub` of the customer's tokens (decision 9).
  external_customer_id text not null unique check (external_customer_id <> ''),
  name varchar(140) not null,
  email text,
  -- Of whoever owns a merchant's settlement account; null for everybody else.
  merchant_id uuid unique references merchants (id),
  created_at timestamptz not null default now()
);

-- By what others find a customer (decision 5), in its normal form: an e-mail address in lower case, a mobile number as
-- E.164, or a name of the customer's own choice.
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
  -- The holder's name as others see it, and what the holder calls the account.
  name varchar(140) not null,
  nickname varchar(70),
  -- Six digits of sort code and eight of the account.
  sort_code_account_number char(14) unique check (sort_code_account_number ~ '^\d{14}$'),
  iban varchar(34) unique,
  status text not null default 'Enabled' check (status in ('Enabled', 'Blocked', 'Closed')),
  balance_minor bigint not null default 0,
  overdraft_limit_minor bigint not null default 0 check (overdraft_limit_minor >= 0),
  -- How many transactions there are, which is the number of the last one: page numbers become ranges.
  transaction_count bigint not null default 0,
  last_booked_at timestamptz not null default '-infinity',
  created_at timestamptz not null default now(),
  primary key (customer_id, id),
  check (sort_code_account_number is not null or iban is not null),
  check (balance_minor >= -overdraft_limit_minor)
);
create index accounts__created_at on accounts (created_at, id);

-- Every movement of money, once for both of its sides. A side that is null is outside: another bank.
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

-- What stands on an account, numbered without gaps in the order of booking.
create table transactions (
  account_id uuid not null references accounts (id),
  number bigint not null check (number > 0),
  transfer_id uuid not null references transfers (id),
  amount_minor bigint not null check (amount_minor > 0),
  credit_debit_indicator text not null check (credit_debit_indicator in ('Credit', 'Debit')),
  status text not null default 'Booked' check (status in ('Booked', 'Pending')),
  booking_date_time timestamptz not null,
  -- After this transaction.
  balance_minor bigint not null,
  -- Who is on the other side, and what the payer wrote.
  counterparty_name varchar(140),
  reference varchar(35),
  primary key (account_id, number)
);
create index transactions__account_id__booking_date_time on transactions (account_id, booking_date_time, number);
create index transactions__transfer_id on transactions (transfer_id);

create trigger append_only before update or delete or truncate on transfers
  for each statement execute function refuse_change();
create trigger append_only before update or delete or truncate on transactions
  for each statement execute function refuse_change();

-- Money comes to an account by a transfer, and in no other way.
create function refuse_unbooked_balance() returns trigger
language plpgsql
as $$
begin
  raise exception 'an account begins empty; money comes to it by book_transfer' using errcode = 'check_violation';
end
$$;
create trigger begins_empty before insert on accounts
  for each row when (new.balance_minor <> 0 or new.transaction_count <> 0) execute function refuse_unbooked_balance();

-- Moves money between two accounts, or between an account and the outside (null), and books it on both: all of it or
-- nothing. The only writer of balances, transfers and transactions. A transfer is known by its id: a repeat changes
-- nothing. `moment` dates it, never before what is booked already; null is now.
create function book_transfer(
  transfer_id uuid, debtor uuid, creditor uuid, amount bigint, of_currency char(3), debtor_name text, creditor_name text,
  payment_reference text, moment timestamptz default null
) returns text
language plpgsql
security definer
set search_path = public, pg_temp
as $$
declare
  payer accounts;
  payee accounts;
  known transfers;
  booked timestamptz;
begin
  -- In the order of their ids, so that two transfers between the same accounts wait for each other and never in a ring.
  perform from accounts a where a.id in (debtor, creditor) order by a.id for no key update;
  select * into known from transfers t where t.id = transfer_id;
  if found then
    return case
      when (known.debtor_account_id, known.creditor_account_id, known.amount_minor, known.currency)
        is not distinct from (debtor, creditor, amount, of_currency) then 'REPEAT'
      else 'OTHER_TRANSFER'
    end;
  end if;
  select * into payer from accounts a where a.id = debtor;
  if debtor is not null then
    if not found then return 'DEBTOR_NOT_FOUND'; end if;
    if payer.status = 'Closed' then return 'DEBTOR_CLOSED'; end if;
    if payer.status = 'Blocked' then return 'DEBTOR_BLOCKED'; end if;
    if payer.currency <> of_currency then return 'DEBTOR_CURRENCY'; end if;
    -- Before anything is said of the other account: whoever has no money learns nothing of others' accounts.
    if payer.balance_minor - amount < -payer.overdraft_limit_minor then return 'INSUFFICIENT_FUNDS'; end if;
  end if;
  select * into payee from accounts a where a.id = creditor;
  if creditor is not null then
    if not found then return 'CREDITOR_NOT_FOUND'; end if;
    if payee.status = 'Closed' then return 'CREDITOR_CLOSED'; end if;
    if payee.currency <> of_currency then return 'CREDITOR_CURRENCY'; end if;
  end if;
  booked := greatest(coalesce(moment, clock_timestamp()), payer.last_booked_at, payee.last_booked_at);
  insert into transfers (id, debtor_account_id, creditor_account_id, amount_minor, currency, booked_at)
  values (transfer_id, debtor, creditor, amount, of_currency, booked);
  if debtor is not null then
    update accounts a
    set balance_minor = a.balance_minor - amount, transaction_count = a.transaction_count + 1, last_booked_at = booked
    where a.id = debtor
    returning * into payer;
    insert into transactions (
      account_id, number, transfer_id, amount_minor, credit_debit_indicator, booking_date_time, balance_minor,
      counterparty_name, reference
    )
    values (
      debtor, payer.transaction_count, transfer_id, amount, 'Debit', booked, payer.balance_minor, creditor_name,
      payment_reference
    );
  end if;
  if creditor is not null then
    update accounts a
    set balance_minor = a.balance_minor + amount, transaction_count = a.transaction_count + 1, last_booked_at = booked
    where a.id = creditor
    returning * into payee;
    insert into transactions (
      account_id, number, transfer_id, amount_minor, credit_debit_indicator, booking_date_time, balance_minor,
      counterparty_name, reference
    )
    values (
      creditor, payee.transaction_count, transfer_id, amount, 'Credit', booked, payee.balance_minor, debtor_name,
      payment_reference
    );
  end if;
  return 'BOOKED';
end
$$;

revoke execute on function book_transfer(uuid, uuid, uuid, bigint, char, text, text, text, timestamptz) from public;
grant execute on function book_transfer(uuid, uuid, uuid, bigint, char, text, text, text, timestamptz) to svc_runtime;
grant select, insert on customers, customer_proxies, customer_clients, accounts to svc_runtime;
-- For the sandbox: an account is blocked, closed, or overdrawn further.
grant update (status, overdraft_limit_minor) on accounts to svc_runtime;
grant select on transfers, transactions to svc_runtime;
