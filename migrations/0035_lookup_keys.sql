-- The key of the hashes that sealed values are found by (decision 277): random, and sealed under the master key, so that
-- a new master key leaves the hashes as they are.
create table lookup_keys (
  id text primary key check (id = 'current'),
  key text not null check (key like 'v1.%'),
  created_at timestamptz not null default now()
);

grant select, insert, update (key) on lookup_keys to svc_runtime;
