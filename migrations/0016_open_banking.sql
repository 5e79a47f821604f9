-- Real banks (src/banks/obie): what was agreed with each of them, so that any process can continue a payment. A bank's
-- secrets and the payer's account are sealed. Rows are named by the `state` of the payment, its bank_consent_id.
create schema obie;
grant usage on schema obie to svc_runtime;

create table obie.consents (
  state text primary key,
  bank text not null,
  kind text not null check (kind in ('payment', 'mandate')),
  -- What the payer is asked to approve, letter for letter: a payment repeats it. Sealed.
  request text not null,
  -- The reference of the first payment under a mandate: what its payer approves has none, as each payment may have its own.
  first_reference varchar(18),
  -- The bank's id of it, once it has answered.
  consent_id text,
  -- The payer's tokens. Sealed.
  tokens text,
  -- The lease of the process that renews them: a refresh token that is used twice ends the mandate at many banks.
  renewed_until timestamptz,
  created_at timestamptz not null default now(),
  unique (bank, consent_id)
);

-- One for each time that a payer was sent to the bank: its answer must come back to the same browser.
create table obie.visits (
  nonce text primary key,
  state text not null references obie.consents (state),
  -- SHA-256 of the browser's cookie.
  browser char(64) not null,
  -- Proves at the exchange that the code was asked for by us (RFC 7636). Sealed.
  verifier text not null,
  created_at timestamptz not null default now(),
  returned_at timestamptz,
  -- SHA-256 of the code of ours that the merchant's page got, and the bank's, sealed.
  code_hash char(64) unique,
  bank_code text,
  check (num_nonnulls(returned_at, code_hash, bank_code) in (0, 3))
);
create index visits__state on obie.visits (state);
create index visits__browser on obie.visits (browser, created_at);

create table obie.payments (
  payment_id uuid primary key,
  consent_state text not null references obie.consents (state),
  -- The order as it was first sent: a repeat is the same, letter for letter. Sealed.
  request text not null,
  first_sent_at timestamptz,
  -- The bank's id of it, once it has answered.
  bank_payment_id text,
  times_asked integer not null default 0 check (times_asked >= 0),
  -- When it was last sent, or asked about, and when before that; without the sendings that were refused.
  asked_at timestamptz,
  asked_before_at timestamptz
);
-- Under a mandate a bank could answer with an earlier collection, which was paid.
create unique index payments__consent_state__bank_payment_id on obie.payments (consent_state, bank_payment_id);

-- Every call of a bank and every refused return of a payer, without bodies: what svc explain shows.
create table obie.calls (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  bank text not null,
  step text not null,
  state text,
  interaction_id uuid not null,
  http_status smallint,
  -- Why the answer was not believed.
  verdict text
);
create index calls__state on obie.calls (state, id) where state is not null;

-- Payments that a bank may have taken without a word, until an operator has found out (decision 273).
create table unanswered_payments (
  payment_id uuid primary key,
  merchant_id uuid not null references merchants (id),
  -- Ahead while the bank may yet settle what it has confirmed to an operator.
  since timestamptz not null default now(),
  -- Set where the bank says that it has settled a payment after the payment has failed here: the money is at our bank
  -- and in no balance, until an operator says what becomes of it (decision 278).
  bank_reference text
);
grant select, insert, delete, update (since, bank_reference) on unanswered_payments to svc_runtime;

grant select, insert on obie.consents, obie.visits, obie.payments, obie.calls to svc_runtime;
-- Old ones only (functions/keep_recent_calls.sql).
grant delete on obie.calls to svc_runtime;
grant update (request, consent_id, tokens, renewed_until) on obie.consents to svc_runtime;
grant update (verifier, returned_at, code_hash, bank_code) on obie.visits to svc_runtime;
grant update (request, first_sent_at, bank_payment_id, times_asked, asked_at, asked_before_at) on obie.payments to svc_runtime;
