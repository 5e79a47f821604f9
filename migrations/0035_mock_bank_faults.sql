-- The mock bank's dial: what goes wrong between the bank and one merchant, who is the only one to notice. Draws follow from
-- the seed and from how many there were since the dial was set (banks/faults.ts).
create table mock_bank.faults (
  merchant_id uuid primary key,
  latency_ms integer not null check (latency_ms between 0 and 60000),
  -- Shares in hundredths of a percent; null where the dial says nothing about it.
  drop_callback smallint check (drop_callback between 0 and 10000),
  duplicate smallint check (duplicate between 0 and 10000),
  unavailable smallint check (unavailable between 0 and 10000),
  seed integer not null check (seed >= 0),
  -- Draws so far.
  calls bigint not null default 0,
  callbacks bigint not null default 0,
  set_at timestamptz not null default now()
);

grant select, insert, update, delete on mock_bank.faults to svc_runtime;

-- Payers whose scenario is a dispute: what they do after the payment has settled (sandbox/play-disputes.ts).
alter table mock_bank.authorisations
  add column story_locked_until timestamptz,
  add column story_ended_at timestamptz;
-- What was paid before was disputed by nobody, and is not disputed all at once now.
update mock_bank.authorisations set story_ended_at = now() where scenario like 'dispute-%';
create index authorisations__stories on mock_bank.authorisations (created_at)
  where scenario like 'dispute-%' and code is not null and story_ended_at is null;

grant update (story_locked_until, story_ended_at) on mock_bank.authorisations to svc_runtime;
