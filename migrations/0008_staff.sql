-- The platform's own staff (contract §Platform user; decision 28) and the clients of its realm. They belong to no
-- merchant.
create type platform_role as enum ('OWNER', 'OPS', 'SUPPORT');

create table platform_users (
  id uuid primary key,
  -- The user's id at the identity provider, whichever product that is: the `sub` of its tokens.
  keycloak_user_id text not null unique,
  email text not null,
  display_name text not null,
  role platform_role not null,
  is_active boolean not null default true,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  last_seen_at timestamptz
);

create unique index platform_users__email on platform_users (email) where is_active;

grant select, insert, update on platform_users to svc_runtime;

create table platform_clients (
  client_id text primary key,
  kind text not null check (kind in ('portal', 'cli', 'service')),
  -- The role of a service client; with a portal or cli the role is that of the person who signs in.
  role platform_role,
  name text,
  created_by text not null,
  created_at timestamptz not null default now(),
  revoked_at timestamptz,
  check ((kind = 'service') = (role is not null))
);

grant select, insert on platform_clients to svc_runtime;
grant update (revoked_at) on platform_clients to svc_runtime;
