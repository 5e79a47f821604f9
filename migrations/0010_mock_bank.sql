-- The mock bank's own books. It stands for the outside world: nothing here refers to the service's tables, and the
-- service's statements never read these. What it has booked can therefore be held against what the service believes.
create schema mock_bank;

-- What the payer decided on the bank's page, once per consent. Silences are counted here, so that a bank that does not
-- answer starts to answer in the end (banks/scenarios.ts).
create table mock_bank.authorisations (
  state text primary key,
  consent_reference text not null unique,
  end_to_end_id text not null,
  amount numeric(19, 4) not null check (amount > 0 and amount <> 'NaN'),
  currency char(3) not null,
  payee_name text not null,
  debtor_bank_id text,
  scenario text not null,
  decision text not null check (decision in ('approve', 'cancel')),
  -- What the redirect carries back; null where the payer did not approve, or never comes back.
  code text unique,
  bank_reference text not null unique,
  exchange_calls integer not null default 0,
  execution_calls integer not null default 0,
  created_at timestamptz not null default now()
);

-- Money taken from payers: one row for each payment, however often it was asked for.
create table mock_bank.bank_debits (
  end_to_end_id text primary key,
  payment_id uuid not null unique,
  amount numeric(19, 4) not null check (amount > 0 and amount <> 'NaN'),
  currency char(3) not null,
  bank_reference text not null unique,
  created_at timestamptz not null default now()
);

-- Money given back: one row for each refund, and a payment may have several.
create table mock_bank.bank_credits (
  refund_id uuid primary key,
  payment_id uuid not null,
  end_to_end_id text not null references mock_bank.bank_debits (end_to_end_id),
  amount numeric(19, 4) not null check (amount > 0 and amount <> 'NaN'),
  currency char(3) not null,
  bank_reference text not null unique,
  created_at timestamptz not null default now()
);

create index bank_credits__end_to_end_id on mock_bank.bank_credits (end_to_end_id);

grant usage on schema mock_bank to svc_runtime;
grant select, insert on mock_bank.authorisations, mock_bank.bank_debits, mock_bank.bank_credits to svc_runtime;
grant update (exchange_calls, execution_calls) on mock_bank.authorisations to svc_runtime;
