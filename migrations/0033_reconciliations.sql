-- The results of the job that reconciles the whole service each day. A row is a run: it is inserted when the run begins,
-- and updated once, at its end. A run whose process dies is marked as FAILED by the next one.
create table reconciliations (
  id uuid primary key,
  status text not null default 'RUNNING' check (status in ('RUNNING', 'BALANCED', 'DIFFERENT', 'FAILED')),
  as_of timestamptz not null,
  started_at timestamptz not null default now(),
  finished_at timestamptz,
  -- When the next run begins: after a day, sooner where this one fails or finds differences. While it runs, the end of
  -- its claim.
  next_run_at timestamptz not null,
  -- One per merchant and currency.
  totals jsonb not null default '[]',
  difference_counts jsonb not null default '[]',
  difference_count integer not null default 0 check (difference_count >= 0),
  -- The first ones.
  differences jsonb not null default '[]',
  failure text,
  check ((status = 'RUNNING') = (finished_at is null)),
  check ((status = 'FAILED') = (failure is not null)),
  check ((status = 'DIFFERENT') = (difference_count > 0))
);

create index reconciliations__started_at__id on reconciliations (started_at desc, id desc);

grant select, insert, delete on reconciliations to svc_runtime;
grant update (status, finished_at, next_run_at, totals, difference_counts, difference_count, differences, failure)
  on reconciliations to svc_runtime;
