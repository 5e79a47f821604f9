-- Who may act for a merchant: its clients by their id (decision 46), and its team.
create table merchant_client (
  client_id text primary key,
  merchant_id uuid not null references merchants (id),
  -- portal: people in a browser. server: the merchant's own server. cli: people at a terminal. credential: created
  -- later.
  kind text not null check (kind in ('portal', 'server', 'cli', 'credential')),
  -- The role of a server or credential; without one it may create, read, refund and dispute payments (decision 31).
  role text check (role in ('ADMIN', 'DEVELOPER', 'FINANCE')),
  name text,
  created_by text not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  check (kind in ('server', 'credential') or role is null)
);

create index merchant_client__merchant_id on merchant_client (merchant_id);

grant select, insert on merchant_client to svc_runtime;
grant update (revoked_at) on merchant_client to svc_runtime;

-- The merchant's team as the service knows it; passwords and sessions belong to the identity provider.
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
