-- The embedded identity provider's own books: realms with their keys, clients, users, and what the protocol remembers.
-- They stand where another provider's database would stand, so nothing here refers to the service's tables.
create schema idp;

-- One row of versions for all realms: one that is made anew under an old name never looks like its predecessor.
create sequence idp.realm_versions;

create table idp.realms (
  slug text primary key check (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' and length(slug) between 3 and 40),
  kind text not null check (kind in ('merchant', 'platform', 'customers')),
  display_name text not null,
  -- Who made it: only its maker's registration may take it away again.
  registration_id uuid not null,
  -- Sealed JSON: the private keys, the first of which signs, and the keys that sign its cookies.
  signing_keys text not null check (signing_keys like 'v1.%'),
  cookie_keys text not null check (cookie_keys like 'v1.%'),
  -- The roles that its users and clients may have.
  roles text[] not null,
  -- What its clients may ask for beyond OpenID's own scopes.
  scopes text[] not null default '{}',
  is_enabled boolean not null default true,
  -- Another one with every change that a process may have cached.
  version bigint not null unique default nextval('idp.realm_versions'),
  created_at timestamptz not null default now(),
  keys_rotated_at timestamptz not null default now(),
  -- When no token that an older key signed can be valid any more; null where there is only the one that signs.
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
  -- Its addresses are those that the service is configured with, whatever they are by now; the columns are empty then.
  follows_configuration boolean not null default false,
  roles text[] not null default '{}',
  created_at timestamptz not null default now(),
  primary key (realm, client_id),
  check ((kind = 'service') = (secret_hash is not null))
);

create table idp.users (
  id uuid primary key,
  realm text not null references idp.realms (slug) on delete cascade,
  -- The `sub` of its tokens: the id, or what the customer's bank calls the customer.
  subject text not null,
  -- In lower case; what its owner signs in with.
  email text not null,
  display_name text,
  -- argon2id in its encoded form; null until the invitation is taken.
  password_hash text,
  roles text[] not null default '{}',
  is_enabled boolean not null default true,
  -- Guesses since the last success; the slot is taken before the password is looked at.
  failed_logins integer not null default 0,
  locked_until timestamptz,
  last_login_at timestamptz,
  -- Whole seconds, as the protocol counts them: no sign-in before counts, whatever still speaks of it.
  sessions_valid_from timestamptz not null default date_trunc('second', now()),
  created_at timestamptz not null default now(),
  unique (realm, email),
  unique (realm, subject)
);

-- Links that set a password, of invitations and forgotten passwords: only the hash of each is kept.
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

-- Sessions, codes, refresh tokens and grants by the keyed hash of their ids, for the ids are what bearers carry. What is
-- remembered of them is sealed, for it names other such ids.
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
  -- Of a session that is over: the row stays until it expires, so that nobody who still writes can bring it back.
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
