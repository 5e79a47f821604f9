-- The payer hub: sign-in by a link that goes to an e-mail address or phone number (specification, Payer hub; decisions 25,
-- 28 and 41). A payer is whoever reads what is sent there; payments belong to the contact on their consent.
-- Payers are known by their address in lower case.
update payment_consents set payer_email = lower(payer_email) where payer_email <> lower(payer_email);

create index payment_consents__payer_email on payment_consents (payer_email, created_at desc) where payer_email is not null;
create index payment_consents__payer_phone on payment_consents (payer_phone, created_at desc) where payer_phone is not null;

create type payer_contact_type as enum ('EMAIL', 'PHONE');

-- What was asked for. A job looks whether the contact is known, so that the answer takes as long either way.
create table payer_link_requests (
  id uuid primary key,
  contact_type payer_contact_type not null,
  contact_normalised text not null,
  -- A keyed hash of the network that asked (decision 28).
  request_ip_hash char(64) not null,
  created_at timestamptz not null default now(),
  handled_at timestamptz
);

create index payer_link_requests__waiting on payer_link_requests (created_at) where handled_at is null;
create index payer_link_requests__ip on payer_link_requests (request_ip_hash, created_at desc);

-- A link's token, by its SHA-256 alone. It works once: verifying is one guarded update.
create table payer_tokens (
  id uuid primary key,
  contact_type payer_contact_type not null,
  contact_normalised text not null,
  token_hash char(64) not null unique check (token_hash ~ '^[0-9a-f]{64}$'),
  request_ip_hash char(64) not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '10 minutes',
  used_at timestamptz,
  check (expires_at = created_at + interval '10 minutes'),
  check (used_at is null or (used_at >= created_at and used_at < expires_at))
);

create index payer_tokens__expires_at on payer_tokens (expires_at);
-- How many a contact was sent, and which of them end when one is used.
create index payer_tokens__contact on payer_tokens (contact_type, contact_normalised, created_at desc);

-- Tokens that were tried and were none, for slowing down who guesses.
create table payer_failed_verifications (
  request_ip_hash char(64) not null,
  created_at timestamptz not null default now()
);

create index payer_failed_verifications__ip on payer_failed_verifications (request_ip_hash, created_at desc);

-- Sessions that were ended before their time.
create table payer_sessions_ended (
  id uuid primary key,
  expires_at timestamptz not null
);

create index payer_sessions_ended__expires_at on payer_sessions_ended (expires_at);

grant select, insert, delete on payer_link_requests, payer_tokens, payer_failed_verifications, payer_sessions_ended to svc_runtime;
grant update (handled_at) on payer_link_requests to svc_runtime;
grant update (used_at) on payer_tokens to svc_runtime;

-- Phone links go out beside mails: the same outbox, another carrier.
alter table mails
  add column channel text not null default 'EMAIL' check (channel in ('EMAIL', 'SMS')),
  -- From when it is of no use any more, and not sent: a link that has ended. Null where it always is of use.
  add column useless_at timestamptz;

-- What a payer leaves on the receipt (decision 41). KNOWN where a contact of either kind is there already, were it the same
-- one: else who has a payment's capability could find out, one guess after the other, what the merchant knows of its payer,
-- or read along beside them. NOT_TAKEN of what no checkout started, and of mandates, which their payer may end.
create function leave_payer_contact(of_merchant uuid, payment uuid, email text, phone text) returns text
language sql
security definer
set search_path = public, pg_temp
as $$
  with asked as (
    select c.id, p.checkout_token_hash is not null and c.consent_type = 'SINGLE_IMMEDIATE' as is_taken
    from payment_intents p
    join payment_consents c on c.merchant_id = p.merchant_id and c.id = p.consent_id
    where p.merchant_id = of_merchant and p.id = payment
  ),
  kept as (
    update payment_consents c
    set payer_email = email, payer_phone = phone, updated_at = now()
    from asked
    where c.merchant_id = of_merchant and c.id = asked.id and asked.is_taken
      and c.payer_email is null and c.payer_phone is null
    returning c.id
  )
  select case
    when exists (select from kept) then 'KEPT'
    when exists (select from asked where is_taken) then 'KNOWN'
    else 'NOT_TAKEN'
  end
$$;

revoke execute on function leave_payer_contact(uuid, uuid, text, text) from public;
grant execute on function leave_payer_contact(uuid, uuid, text, text) to svc_runtime;
