-- The one-time codes that payers entered on the mock bank's full login page, by the payment's state: five wrong ones, and
-- the bank refuses the payment (decision 32).
create table mock_bank.code_tries (
  state text primary key,
  wrong_codes smallint not null check (wrong_codes between 0 and 5),
  -- Whether the last code was taken for a wrong one.
  was_wrong boolean not null,
  created_at timestamptz not null default now()
);

grant select, insert, update (wrong_codes, was_wrong) on mock_bank.code_tries to svc_runtime;
