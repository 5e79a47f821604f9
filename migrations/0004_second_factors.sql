-- The second factor of people who sign in at the embedded provider: an authenticator app that makes one-time codes
-- (RFC 6238), passkeys (WebAuthn), and the recovery codes for when they are lost. The row is there while one of them is.
create table idp.second_factors (
  user_id uuid primary key references idp.users (id) on delete cascade,
  -- Null without an app.
  secret text check (secret like 'v1.%'),
  -- The time step of the last code that was accepted: no code works twice.
  last_step bigint,
  -- As for passwords: counted before the code is compared.
  failed_codes integer not null default 0,
  locked_until timestamptz,
  -- A sign-in that began before a change can't make another one.
  changed_at timestamptz not null default clock_timestamp(),
  check ((secret is null) = (last_step is null))
);

-- Public keys, in base64url. An id belongs to one person, since the realms share a host.
create table idp.passkeys (
  credential_id text primary key check (length(credential_id) <= 1364),
  user_id uuid not null references idp.second_factors (user_id) on delete cascade,
  public_key text not null,
  -- Grows with each use, or stays 0 where a passkey is kept on several devices.
  sign_count bigint not null,
  is_synced boolean not null,
  transports text[] not null,
  name text not null check (length(name) between 1 and 60),
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);

create index passkeys__user_id on idp.passkeys (user_id);

-- SHA-256 of random codes of 80 bits. Each works once, in the place of a code of the app.
create table idp.recovery_codes (
  user_id uuid not null references idp.second_factors (user_id) on delete cascade,
  code_hash char(64) not null,
  used_at timestamptz,
  primary key (user_id, code_hash)
);

grant select, insert, update, delete on idp.second_factors, idp.passkeys, idp.recovery_codes to svc_runtime;
