-- The ledger: every movement of a merchant's money, once it has reached the service's bank. An entry names the account
-- that it debits and the account that it credits, so no entry can be unbalanced, and the accounts of a merchant, of a
-- currency and of the whole service always sum to zero. functions/post_ledger.sql is the only writer: the runtime role
-- can call it and has no right to the tables but to read the entries.
--
-- The accounts, each per merchant and currency, and the side on which each normally is. Bank, fees earned and rounding
-- are the platform's: what it has per currency is the sum over the merchants.
--   bank                debit   the money at the service's bank
--   clearing            credit  owed to the merchant from settled payments, until a settlement closes the period
--   merchant_payable    credit  owed to the merchant from closed settlements, until it is paid out
--   held                credit  owed to the merchant, but not to be paid out now
--   payouts_in_transit  credit  sent to the merchant's bank account, until the bank confirms it
--   fees_earned         credit  the platform's fees
--   rounding            credit  what settlements round off, or with a debit balance, what they added
-- needs: functions/fits_ledger
create type ledger_account as enum (
  'bank', 'clearing', 'merchant_payable', 'held', 'payouts_in_transit', 'fees_earned', 'rounding'
);

create type ledger_movement as enum (
  'payment_settled', 'fee_taken', 'payment_refunded', 'dispute_refunded', 'settlement_closed', 'rounded_up',
  'rounded_down', 'balance_held', 'balance_released', 'payout_sent', 'payout_paid', 'payout_failed', 'payout_returned',
  'correction', 'debt_deducted', 'debt_restored'
);

-- An item of post_ledger.
create type ledger_posting as (
  merchant_id uuid, movement ledger_movement, subject_id uuid, debit ledger_account, credit ledger_account,
  amount numeric, currency text
);

create table ledger_entries (
  ordinal bigserial primary key,
  merchant_id uuid not null,
  movement ledger_movement not null,
  -- What moved the money: a payment, for refunds the refund, later a settlement, a payout or a correction.
  subject_id uuid not null,
  debit ledger_account not null,
  credit ledger_account not null,
  amount numeric(19, 4) not null,
  currency char(3) not null,
  created_at timestamptz not null default now(),
  -- Over all other columns (functions/ledger_entry_hash.sql). Checkpoints seal the order (0009_audit.sql).
  entry_hash char(64) not null,
  -- Each movement is posted once.
  constraint ledger_entries__once unique (merchant_id, subject_id, movement),
  -- One call instead of its text, because PostgreSQL parses a check again for each statement: 80 µs for this one.
  constraint ledger_entries__fits check (fits_ledger(movement::text, debit::text, credit::text, amount, currency))
);

-- What reconciling a day reads. Entries are inserted in the order of time, so a few kilobytes find those of a day, and
-- posting an entry does not pay for another tree.
create index ledger_entries__created_at on ledger_entries using brin (created_at) with (pages_per_range = 16, autosummarize = on);

grant select on ledger_entries to svc_runtime;

-- The balances are kept for all entries but the last ones, because one row per merchant would make its payments wait for
-- each other's commits: post_ledger only lists its entries here, and a job (functions/fold_ledger.sql) adds them to the
-- kept balances. One statement that reads both gets the balances of that moment (view ledger_balances).
create table ledger_unfolded (
  merchant_id uuid not null,
  ordinal bigint not null
);

-- Debits are positive, so that each row sums to zero.
create table ledger_kept_balances (
  merchant_id uuid not null references merchants (id),
  currency char(3) not null,
  bank numeric(24, 4) not null,
  clearing numeric(24, 4) not null,
  merchant_payable numeric(24, 4) not null,
  held numeric(24, 4) not null,
  payouts_in_transit numeric(24, 4) not null,
  fees_earned numeric(24, 4) not null,
  rounding numeric(24, 4) not null,
  updated_at timestamptz not null default now(),
  -- The time of the oldest line without a settlement, and the end of the last settlement, in the merchant's own time.
  unsettled_since timestamptz,
  settled_until timestamptz,
  primary key (merchant_id, currency),
  check (bank + clearing + merchant_payable + held + payouts_in_transit + fees_earned + rounding = 0)
);

create index ledger_kept_balances__unsettled on ledger_kept_balances (unsettled_since) where unsettled_since is not null;

-- What each entry adds to the accounts, debits positive.
create view ledger_sides as
select ordinal, merchant_id, currency,
  case when debit = 'bank' then amount when credit = 'bank' then -amount else 0.0000 end as bank,
  case when debit = 'clearing' then amount when credit = 'clearing' then -amount else 0.0000 end as clearing,
  case when debit = 'merchant_payable' then amount when credit = 'merchant_payable' then -amount else 0.0000 end as merchant_payable,
  case when debit = 'held' then amount when credit = 'held' then -amount else 0.0000 end as held,
  case when debit = 'payouts_in_transit' then amount when credit = 'payouts_in_transit' then -amount else 0.0000 end as payouts_in_transit,
  case when debit = 'fees_earned' then amount when credit = 'fees_earned' then -amount else 0.0000 end as fees_earned,
  case when debit = 'rounding' then amount when credit = 'rounding' then -amount else 0.0000 end as rounding
from ledger_entries;

-- The balances of this moment, each on its account's normal side: what is owed to a merchant is positive.
create view ledger_balances as
select b.merchant_id, b.currency, a.account, a.normal_side, a.balance
from (
  select merchant_id, currency,
    sum(bank) as bank, sum(clearing) as clearing, sum(merchant_payable) as merchant_payable, sum(held) as held,
    sum(payouts_in_transit) as payouts_in_transit, sum(fees_earned) as fees_earned, sum(rounding) as rounding
  from (
    select merchant_id, currency, bank, clearing, merchant_payable, held, payouts_in_transit, fees_earned, rounding
    from ledger_kept_balances
    union all
    select u.merchant_id, s.currency, s.bank, s.clearing, s.merchant_payable, s.held, s.payouts_in_transit, s.fees_earned,
      s.rounding
    from ledger_unfolded u
    -- Lateral, because each must be looked up by its key whatever the plan.
    cross join lateral (
      select e.currency, e.bank, e.clearing, e.merchant_payable, e.held, e.payouts_in_transit, e.fees_earned, e.rounding
      from ledger_sides e
      where e.ordinal = u.ordinal
      limit 1
    ) s
  ) parts
  group by merchant_id, currency
) b
cross join lateral (
  values ('bank'::ledger_account, 'debit', b.bank), ('clearing', 'credit', -b.clearing),
    ('merchant_payable', 'credit', -b.merchant_payable), ('held', 'credit', -b.held),
    ('payouts_in_transit', 'credit', -b.payouts_in_transit), ('fees_earned', 'credit', -b.fees_earned),
    ('rounding', 'credit', -b.rounding)
) a (account, normal_side, balance);

grant select on ledger_balances to svc_runtime;

-- The same, counted again from all entries: for checks, as it reads all of them.
create view ledger_recount as
select b.merchant_id, b.currency, a.account, a.normal_side, a.balance
from (
  select merchant_id, currency,
    sum(bank) as bank, sum(clearing) as clearing, sum(merchant_payable) as merchant_payable, sum(held) as held,
    sum(payouts_in_transit) as payouts_in_transit, sum(fees_earned) as fees_earned, sum(rounding) as rounding
  from ledger_sides
  group by merchant_id, currency
) b
cross join lateral (
  values ('bank'::ledger_account, 'debit', b.bank), ('clearing', 'credit', -b.clearing),
    ('merchant_payable', 'credit', -b.merchant_payable), ('held', 'credit', -b.held),
    ('payouts_in_transit', 'credit', -b.payouts_in_transit), ('fees_earned', 'credit', -b.fees_earned),
    ('rounding', 'credit', -b.rounding)
) a (account, normal_side, balance);

grant select on ledger_recount to svc_runtime;
