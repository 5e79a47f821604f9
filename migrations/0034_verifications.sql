-- The results of the job that checks the invariants of the database each day (src/verify). A row is a run: it is inserted
-- when the run begins, and updated once, at its end. One whose process dies is followed by another when its claim ends.
create table verifications (
  id uuid primary key,
  started_at timestamptz not null default now(),
  finished_at timestamptz,
  -- When the next run begins. While it runs, the end of its claim.
  next_run_at timestamptz not null,
  -- Name, count and first rows of each invariant that is broken; null while it runs, and where it failed.
  violations jsonb,
  failure text,
  check ((finished_at is null) = (num_nonnulls(violations, failure) = 0)),
  check (num_nonnulls(violations, failure) <= 1)
);

create index verifications__started_at__id on verifications (started_at desc, id desc);

grant select, insert, delete on verifications to svc_runtime;
grant update (finished_at, next_run_at, violations, failure) on verifications to svc_runtime;

-- The last dump that `svc backup verify --record` has restored and verified, for `svc doctor --live`.
create table backup_verification (
  id text primary key check (id = 'last'),
  verified_at timestamptz not null default now(),
  is_whole boolean not null,
  -- The newest event of the audit trail in the dump; null where it has none.
  newest_event_at timestamptz
);

grant select, insert, update on backup_verification to svc_runtime;
