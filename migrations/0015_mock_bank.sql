-- The books of the mock bank. It plays the outside world: nothing here refers to the service's tables, and the
-- service's statements never read these. Its bookings can therefore be compared with the service's own records.
create schema mock_bank;

-- The payer's decision on the bank's page, once per consent. Calls that the bank leaves unanswered are counted here, so
-- that a silent bank answers in the end (banks/scenarios.ts).
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
  -- The code in the redirect; null where the payer did not approve, or never returns.
  code text unique,
  bank_reference text not null unique,
  exchange_calls integer not null default 0,
  execution_calls integer not null default 0,
  created_at timestamptz not null default now(),
  -- The merchant who is paid; null where it has no account here, and then no account is credited.
  payee_id uuid,
  -- The account that is debited: one of this bank's own, or null for another bank's.
  debtor_account_id uuid,
  -- The reference that the payer sees beside the payment.
  remittance_reference varchar(35),
  -- Until when further payments may be made under it; null where only one payment was authorised.
  mandate_valid_to timestamptz,
  -- The consent_reference of the mandate that it was paid under; null where the payer authorised it.
  mandate_reference text,
  -- For payers whose scenario continues with a dispute after the settlement (sandbox/play-disputes.ts).
  scenario_locked_until timestamptz,
  scenario_ended_at timestamptz
);

create index authorisations__unplayed on mock_bank.authorisations (created_at)
  where scenario like 'dispute-%' and code is not null and scenario_ended_at is null;

-- Money taken from payers: one row for each payment, however often it is asked for.
create table mock_bank.bank_debits (
  end_to_end_id text primary key,
  payment_id uuid not null unique,
  amount numeric(19, 4) not null check (amount > 0 and amount <> 'NaN'),
  currency char(3) not null,
  bank_reference text not null unique,
  created_at timestamptz not null default now(),
  debtor_account_id uuid,
  -- Null where no account of this bank was credited, because the payee has none.
  creditor_account_id uuid
);

-- Money given back: one row for each refund. A payment may have several.
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
-- Reconciliation reads what was given back in a time: bookings are inserted in its order.
create index bank_credits__created_at on mock_bank.bank_credits using brin (created_at) with (pages_per_range = 16, autosummarize = on);

-- Payouts, rejected ones too: a repeat gets the first answer.
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

-- Why money did not move, by the id of the payment or refund: the outcome of book_transfer. Money may arrive later, and
-- an account be opened again, but a repeated request gets the first answer.
create table mock_bank.refusals (
  id uuid primary key,
  outcome text not null check (outcome <> ''),
  created_at timestamptz not null default now()
);

-- The mandates whose end was reported to the bank.
create table mock_bank.ended_mandates (
  consent_reference text primary key,
  created_at timestamptz not null default now()
);

-- The one-time codes entered on the bank's full login page, by the payment's state: after five wrong ones the bank
-- rejects the payment (decision 32).
create table mock_bank.code_tries (
  state text primary key,
  wrong_codes smallint not null check (wrong_codes between 0 and 5),
  -- Whether the last code was counted as wrong.
  was_wrong boolean not null,
  created_at timestamptz not null default now()
);

-- Fault injection settings: failures between the bank and one merchant, which no other merchant notices. The random
-- values follow from the seed and from the number of values since the settings were made (banks/faults.ts).
create table mock_bank.faults (
  merchant_id uuid primary key,
  latency_ms integer not null check (latency_ms between 0 and 60000),
  -- Shares in hundredths of a percent; null where this fault is not set.
  drop_callback smallint check (drop_callback between 0 and 10000),
  duplicate smallint check (duplicate between 0 and 10000),
  unavailable smallint check (unavailable between 0 and 10000),
  -- Shares of payouts that fail, and that are returned after they were paid.
  fail_payout smallint check (fail_payout between 0 and 10000),
  return_payout smallint check (return_payout between 0 and 10000),
  seed integer not null check (seed >= 0),
  -- Random values used so far.
  calls bigint not null default 0,
  callbacks bigint not null default 0,
  payouts bigint not null default 0,
  set_at timestamptz not null default now()
);

grant usage on schema mock_bank to svc_runtime;
grant select, insert on mock_bank.authorisations, mock_bank.bank_debits, mock_bank.bank_credits to svc_runtime;
grant update (exchange_calls, execution_calls) on mock_bank.authorisations to svc_runtime;
grant update (scenario_locked_until, scenario_ended_at) on mock_bank.authorisations to svc_runtime;
grant select, insert, update (will_return, return_ordinal, returned_at) on mock_bank.payouts to svc_runtime;
grant select, insert on mock_bank.refusals to svc_runtime;
grant select, insert on mock_bank.ended_mandates to svc_runtime;
grant select, insert, update (wrong_codes, was_wrong) on mock_bank.code_tries to svc_runtime;
grant select, insert, update, delete on mock_bank.faults to svc_runtime;
