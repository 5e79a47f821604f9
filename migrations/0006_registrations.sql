-- A registration from its first step: the slug is reserved here before anything is created at the identity provider,
-- and a crash half-way is found by its row (decision 47).
create table registration (
  id uuid primary key,
  slug text not null unique,
  status text not null check (status in ('PROVISIONING', 'COMPLETE', 'FAILED')),
  company_name text not null,
  trading_name text not null,
  admin_email text not null,
  -- Set when the registration is complete.
  merchant_id uuid references merchants (id),
  admin_user_id text,
  warnings text[] not null default '{}',
  failure text,
  -- Until when a process works on it; after that another process may repair it.
  locked_until timestamptz,
  -- Set before its realm is deleted: the process that created the realm, however slow, can no longer complete it.
  rolling_back boolean not null default false,
  -- The invitation of the first administrator, sent after everything else is set up.
  invite_due_at timestamptz,
  invite_attempts smallint not null default 0,
  invited_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check ((status = 'COMPLETE') = (merchant_id is not null)),
  check (status = 'PROVISIONING' or not rolling_back)
);

create index registration__invite_due_at on registration (invite_due_at) where invited_at is null and status = 'COMPLETE';
create index registration__locked_until on registration (locked_until) where status = 'PROVISIONING';
create unique index registration__merchant_id on registration (merchant_id) where merchant_id is not null;

grant select, insert, update on registration to svc_runtime;

-- Every registration request of a network, whatever its outcome: for the limit per hour, and deleted after it.
create table registration_attempt (
  -- Keyed hashes of the caller's network: its own, and the one that it is a part of.
  request_ip_hash char(64) not null,
  wide_ip_hash char(64) not null,
  created_at timestamptz not null default clock_timestamp()
);

create index registration_attempt__request_ip_hash on registration_attempt (request_ip_hash, created_at);
create index registration_attempt__wide_ip_hash on registration_attempt (wide_ip_hash, created_at);
create index registration_attempt__created_at on registration_attempt (created_at);

grant select, insert, delete on registration_attempt to svc_runtime;
