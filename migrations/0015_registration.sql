-- Who may speak for a merchant: its clients by id (decision 46), its staff, and the registration that made it.

create table merchant_client (
  client_id text primary key,
  merchant_id uuid not null references merchants (id),
  -- portal: people in a browser. server: the merchant's own server. cli: people at a terminal. credential: made later.
  kind text not null check (kind in ('portal', 'server', 'cli', 'credential')),
  -- Of a server or credential; without one it may create, read, refund and dispute payments (decision 31).
  role text check (role in ('ADMIN', 'DEVELOPER', 'FINANCE')),
  name text,
  created_by text not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  check (kind in ('server', 'credential') or role is null)
);

create index merchant_client__merchant_id on merchant_client (merchant_id);

insert into merchant_client (client_id, merchant_id, kind, role, created_by)
select client_id, id, 'server', 'ADMIN', 'migration' from merchants;

grant select, insert on merchant_client to svc_runtime;
grant update (revoked_at) on merchant_client to svc_runtime;

-- A registration from its first step on: the slug is taken here before anything is made at the identity provider, and
-- what a crash leaves half-made is found by its row (decision 47).
create table registration (
  id uuid primary key,
  slug text not null unique,
  status text not null check (status in ('PROVISIONING', 'COMPLETE', 'FAILED')),
  company_name text not null,
  trading_name text not null,
  admin_email text not null,
  -- Set when it is complete.
  merchant_id uuid references merchants (id),
  admin_user_id text,
  warnings text[] not null default '{}',
  failure text,
  -- While a process works on it; afterwards another may heal it.
  locked_until timestamptz,
  -- Set before its realm is taken away: whoever made that realm, slow as it may be, can't complete it any more.
  rolling_back boolean not null default false,
  -- The invitation of the first administrator, sent after everything else stands.
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

-- The order in which operators list merchants.
create index merchants__created_at__id on merchants (created_at, id);

grant select, insert, update on registration to svc_runtime;

-- Each time a network asked for a registration, whatever came of it: for the limit per hour, and gone after it.
create table registration_attempt (
  -- Keyed hash of the caller's address.
  request_ip_hash char(64) not null,
  created_at timestamptz not null default clock_timestamp()
);

create index registration_attempt__request_ip_hash on registration_attempt (request_ip_hash, created_at);
create index registration_attempt__created_at on registration_attempt (created_at);

grant select, insert, delete on registration_attempt to svc_runtime;

-- The merchant's staff as the service knows it; passwords and sessions are the identity provider's.
create table team_members (
  merchant_id uuid not null references merchants (id),
  -- The user's id at the identity provider: the `sub` of its tokens.
  id text not null,
  email text not null,
  role text not null check (role in ('ADMIN', 'DEVELOPER', 'FINANCE')),
  is_active boolean not null default true,
  invited_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (merchant_id, id)
);

create unique index team_members__merchant_id__email on team_members (merchant_id, email) where is_active;

grant select, insert, update on team_members to svc_runtime;
