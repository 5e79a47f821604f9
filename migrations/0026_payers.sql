-- The payer hub: sign-in by a link that is sent to an e-mail address or phone number (contract §Payer hub; decisions
-- 25, 28 and 41). Payers have no accounts: they prove that they read the contact, and payments belong to the contact on
-- their consent. Contacts are sealed, and found by a keyed hash (decision 277).
create type payer_contact_type as enum ('EMAIL', 'PHONE');

-- Requests for a link. A job looks up whether the contact is known, so that the response takes equally long either way.
create table payer_link_requests (
  id uuid primary key,
  contact_type payer_contact_type not null,
  contact text not null check (contact like 'v1.%'),
  contact_hash char(64) not null check (contact_hash ~ '^[0-9a-f]{64}$'),
  -- Keyed hashes of the caller's network (decision 28): its own, and the one that it is a part of.
  request_ip_hash char(64) not null,
  wide_ip_hash char(64) not null,
  -- Of the message: what the requester's browser or page speaks.
  language text not null default 'en' check (language ~ '^[a-z]{2}$'),
  created_at timestamptz not null default now(),
  handled_at timestamptz
);

create index payer_link_requests__waiting on payer_link_requests (created_at) where handled_at is null;
create index payer_link_requests__ip on payer_link_requests (request_ip_hash, created_at desc);
create index payer_link_requests__wide_ip on payer_link_requests (wide_ip_hash, created_at desc);

-- A link's token, stored as its SHA-256 alone. It works once: verifying is one guarded update.
create table payer_tokens (
  id uuid primary key,
  contact_type payer_contact_type not null,
  contact text not null check (contact like 'v1.%'),
  contact_hash char(64) not null check (contact_hash ~ '^[0-9a-f]{64}$'),
  token_hash char(64) not null unique check (token_hash ~ '^[0-9a-f]{64}$'),
  request_ip_hash char(64) not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '10 minutes',
  used_at timestamptz,
  check (expires_at = created_at + interval '10 minutes'),
  check (used_at is null or (used_at >= created_at and used_at < expires_at))
);

create index payer_tokens__expires_at on payer_tokens (expires_at);
-- How many tokens a contact was sent, and which of them end when one is used.
create index payer_tokens__contact on payer_tokens (contact_type, contact_hash, created_at desc);

-- Invalid tokens that were tried, to slow down guessing.
create table payer_failed_verifications (
  request_ip_hash char(64) not null,
  created_at timestamptz not null default now()
);

create index payer_failed_verifications__ip on payer_failed_verifications (request_ip_hash, created_at desc);

-- Sessions that were ended before they expired.
create table payer_sessions_ended (
  id uuid primary key,
  expires_at timestamptz not null
);

create index payer_sessions_ended__expires_at on payer_sessions_ended (expires_at);

grant select, insert, delete on payer_link_requests, payer_tokens, payer_failed_verifications, payer_sessions_ended to svc_runtime;
grant update (handled_at, contact) on payer_link_requests to svc_runtime;
grant update (used_at, contact) on payer_tokens to svc_runtime;
