-- The books of the embedded identity provider: realms with their keys, clients, users, and the state of its protocol.
-- They take the place of another provider's database, so nothing here refers to the service's tables.
create schema idp;

-- One sequence of versions for all realms, so that a realm recreated under an old slug is never mistaken for its
-- predecessor.
create sequence idp.realm_versions;

create table idp.realms (
  slug text primary key check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) between 3 and 40),
  kind text not null check (kind in ('merchant', 'platform', 'customers')),
  display_name text not null,
  -- The registration that created the realm: no other registration may delete it.
  registration_id uuid not null,
  -- Sealed JSON: the private keys, of which the first signs, and the keys that sign the provider's cookies.
  signing_keys text not null check (signing_keys like 'v1.%'),
  cookie_keys text not null check (cookie_keys like 'v1.%'),
  -- The roles that users and clients of the realm may have.
  roles text[] not null,
  -- The scopes that its clients may ask for beyond those of OpenID.
  scopes text[] not null default '{}',
  is_enabled boolean not null default true,
  -- Changes with everything that a process may have cached.
  version bigint not null unique default nextval('idp.realm_versions'),
  created_at timestamptz not null default now(),
  keys_rotated_at timestamptz not null default now(),
  -- When no token signed by an older key can be valid any more; null while there is only the signing key.
  keys_retire_at timestamptz
);

create index realms__keys_rotated_at on idp.realms (keys_rotated_at);
create index realms__keys_retire_at on idp.realms (keys_retire_at) where keys_retire_at is not null;

create table idp.clients (
  realm text not null references idp.realms (slug) on delete cascade,
  client_id text not null,
  kind text not null check (kind in ('portal', 'service', 'cli')),
  -- SHA-256 of a random secret of 256 bits; public clients have none.
  secret_hash char(64),
  redirect_uris text[] not null default '{}',
  post_logout_redirect_uris text[] not null default '{}',
  web_origins text[] not null default '{}',
  -- Its addresses are the ones in the service's current configuration; the columns above are empty then.
  follows_configuration boolean not null default false,
  roles text[] not null default '{}',
  created_at timestamptz not null default now(),
  primary key (realm, client_id),
  check ((kind = 'service') = (secret_hash is not null))
);

create table idp.users (
  id uuid primary key,
  realm text not null references idp.realms (slug) on delete cascade,
  -- The `sub` of the user's tokens: the id, or the identifier that the customer's bank uses for the customer.
  subject text not null,
  -- In lower case; the user signs in with it.
  email text not null,
  display_name text,
  -- argon2id in its encoded form; null until the invitation is accepted.
  password_hash text,
  -- When the link of a mail set the password; null if something else did.
  password_linked_at timestamptz,
  roles text[] not null default '{}',
  is_enabled boolean not null default true,
  -- Failed attempts since the last success. Counted before the password is verified, so that parallel guesses count
  -- too.
  failed_logins integer not null default 0,
  locked_until timestamptz,
  last_login_at timestamptz,
  -- In whole seconds, as the protocol counts: sessions that began earlier are invalid, wherever they are still stored.
  sessions_valid_from timestamptz not null default date_trunc('second', now()),
  created_at timestamptz not null default now(),
  unique (realm, email),
  unique (realm, subject)
);

-- Links that set a password, for invitations and forgotten passwords: only the hash of each is stored.
create table idp.action_tokens (
  token_hash char(64) primary key,
  realm text not null references idp.realms (slug) on delete cascade,
  user_id uuid not null references idp.users (id) on delete cascade,
  purpose text not null check (purpose in ('invite', 'reset')),
  client_id text not null,
  redirect_uri text,
  expires_at timestamptz not null,
  used_at timestamptz,
  created_at timestamptz not null default now()
);

create index action_tokens__user_id on idp.action_tokens (user_id);
create index action_tokens__expires_at on idp.action_tokens (expires_at);

-- Sessions, codes, refresh tokens and grants by the keyed hash of their ids, because bearers carry the ids themselves.
-- The payload is sealed, because it names other such ids.
create table idp.state (
  realm text not null references idp.realms (slug) on delete cascade,
  model text not null,
  id_hash char(64) not null,
  payload text not null check (payload like 'v1.%'),
  grant_hash char(64),
  uid_hash char(64),
  user_code_hash char(64),
  subject text,
  consumed_at timestamptz,
  -- When a device asked last whether its code is confirmed.
  polled_at timestamptz,
  -- When a session was ended. The row stays until it expires, so that a late write cannot revive the session.
  ended_at timestamptz,
  expires_at timestamptz,
  primary key (realm, model, id_hash)
);

create index state__realm__grant_hash on idp.state (realm, grant_hash) where grant_hash is not null;
create index state__realm__uid_hash on idp.state (realm, uid_hash) where uid_hash is not null;
create index state__realm__user_code_hash on idp.state (realm, user_code_hash) where user_code_hash is not null;
create index state__realm__subject on idp.state (realm, subject) where subject is not null;
create index state__expires_at on idp.state (expires_at);

grant usage on schema idp to svc_runtime;
grant usage on sequence idp.realm_versions to svc_runtime;
grant select, insert, update, delete on idp.realms, idp.clients, idp.users, idp.action_tokens, idp.state to svc_runtime;
