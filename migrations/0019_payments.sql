-- Payment intents (contract §Payment intent). The runtime role has no right to the status: create_payments and
-- move_payments alone write it.
create type payment_status as enum ('Initiated', 'AwaitingAuthorisation', 'Authorised', 'Settled', 'Failed', 'Refunded');

create table payment_intents (
  id uuid not null unique,
  -- The merchant of its consent, which has a key to merchants: a second one would be checked for every payment.
  merchant_id uuid not null,
  consent_id uuid not null,
  idempotency_key varchar(255) not null,
  request_fingerprint char(64) not null,
  amount numeric(19, 4) not null,
  gross_amount numeric(19, 4) not null check (gross_amount > 0 and gross_amount <> 'NaN'),
  fee_amount numeric(19, 4) not null check (fee_amount >= 0),
  net_amount numeric(19, 4) not null check (net_amount > 0),
  fee_percentage numeric(5, 4) not null,
  fee_flat numeric(10, 2) not null,
  currency char(3) not null check (currency ~ '^[A-Z]{3}$'),
  status payment_status not null,
  end_to_end_id varchar(35) not null unique check (end_to_end_id ~ '^[A-Z]{3}[0-9a-f]{32}$'),
  bank_consent_id text not null unique,
  -- The connector that the payment went to: no other may report on it, execute it or refund it.
  bank_connector varchar(50) not null,
  bank_reference text,
  failure_code text,
  -- The side that caused the failure, where one code has two causes: the payer cancels at the bank, or on our page.
  failure_source text,
  refunded_amount numeric(19, 4) not null default 0,
  -- Reserved by refunds that the bank has not answered yet (decision 21).
  refund_reserved_amount numeric(19, 4) not null default 0,
  redirect_uri text,
  redirect_url text,
  metadata json,
  -- The trace of the request that created it (W3C Trace Context), which its later events continue (decision 400).
  traceparent varchar(55),
  -- When the settlement job executes it; before its authorisation, when a bank that was silent is asked again.
  settle_at timestamptz,
  -- Until when a job that calls the bank holds the payment. It ends by itself if the job dies.
  locked_until timestamptz,
  -- How many webhooks this payment has queued: the `sequence` of the next one is one more (decision 36). An integer,
  -- because a smallint would stop the payment's next move at 32767.
  webhook_sequence integer not null default 0,
  -- How many of them retention has removed, the first ones: the log of the others begins with the next (decision 370).
  webhooks_removed integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- SHA-256 of the checkout token that started the payment: it identifies the order, which is paid once (decisions 40
  -- and 66).
  checkout_token_hash char(64) check (checkout_token_hash ~ '^[0-9a-f]{64}$'),
  -- Where the checkout sends the payer after the receipt.
  return_url text,
  -- The number that the shop gave the order: its token's `jti`.
  order_id text,
  -- Whether it was made under a mandate that was authorised before, and so has no redirect and waits for no payer
  -- (decision 49).
  under_mandate boolean not null default false,
  -- For a payment under a mandate whose values differ from the mandate's: the reference that the payer sees, and the
  -- sandbox scenario.
  remittance_reference varchar(18),
  sandbox_scenario varchar(64),
  foreign key (merchant_id, consent_id) references payment_consents (merchant_id, id),
  constraint payment_intents__webhooks_removed check (webhooks_removed between 0 and webhook_sequence),
  check (amount = gross_amount),
  check (net_amount = gross_amount - fee_amount),
  check (refunded_amount >= 0 and refund_reserved_amount >= 0 and refunded_amount + refund_reserved_amount <= gross_amount),
  check ((status = 'Failed') = (failure_code is not null)),
  check ((failure_code is null) = (failure_source is null)),
  check (status <> 'Refunded' or refunded_amount = gross_amount),
  constraint payment_intents__redirect_uri check (under_mandate = (redirect_uri is null))
-- Room for two more versions of a row, so that a claim or a count of webhooks writes no index (decision 429).
) with (fillfactor = 80);

create index payment_intents__merchant_id__created_at__id on payment_intents (merchant_id, created_at desc, id desc);
-- The keys after the index above, and that of idempotency last and by the key first. Until the first statistics exist all
-- of them cost the planner the same, and of those it takes the latest: another one reads every row of the merchant.
alter table payment_intents add primary key (merchant_id, id);
alter table payment_intents add unique (idempotency_key, merchant_id);
-- Consent first: if the merchant led, the planner would use this index to check foreign keys to (merchant_id, id) until
-- the first statistics exist, and read every row of the merchant.
create index payment_intents__consent_id__merchant_id on payment_intents (consent_id, merchant_id);
create index payment_intents__settle_at on payment_intents (settle_at) where status = 'Authorised';
-- Payments that a crash left between being recorded and being staged at the bank (decision 17).
create index payment_intents__created_at__initiated on payment_intents (created_at) where status = 'Initiated';
-- One payment of a token at a time, unless it failed: two tabs can't pay one order twice.
create unique index payment_intents__checkout_token_hash on payment_intents (merchant_id, checkout_token_hash)
  where checkout_token_hash is not null and status <> 'Failed';
-- All payments of a token, the failed ones too: their number is limited.
create index payment_intents__checkout_tries on payment_intents (merchant_id, checkout_token_hash)
  where checkout_token_hash is not null;
create index payment_intents__under_mandate on payment_intents (coalesce(settle_at, created_at))
  where under_mandate and status in ('Initiated', 'AwaitingAuthorisation');
-- Lists of failed and of refunded payments: where a merchant has few of them, the index by time reads its whole history. The
-- predicate leaves out the statuses that every payment passes, so that creating and settling one write nothing here.
-- One for each: under row-level security a status can be the condition of an index, and not one that it is searched by.
create index payment_intents__failed on payment_intents (merchant_id, created_at desc, id desc) where status = 'Failed';
create index payment_intents__refunded on payment_intents (merchant_id, created_at desc, id desc) where status = 'Refunded';

grant select on payment_intents to svc_runtime;
grant update (settle_at, locked_until, refund_reserved_amount, refunded_amount, webhook_sequence, updated_at) on payment_intents to svc_runtime;

-- An item of create_payments. An item with `control_parameters` sets up a mandate; one with `under_mandate` belongs to
-- an existing consent, whose row the caller has locked.
create type new_payment as (
  merchant_id uuid, payment_id uuid, consent_id uuid, audit_id uuid, delivery_id uuid, event_id text, event_type text,
  end_to_end_id text, bank_consent_id text, bank_connector text, bank_consent_reference text, idempotency_key text, request_fingerprint text,
  amount numeric, currency text, redirect_uri text, redirect_url text, payer_name text, debtor_account_scheme text,
  debtor_identification text, remittance_reference text, debtor_bank_id text, payer_email_hash text, payer_phone_hash text,
  sandbox_scenario text, metadata json, raw_payload text, consent_seconds integer, status text, changed_by text, test boolean,
  checkout_token_hash text, return_url text, order_id text, consent_type text, control_parameters json, valid_to timestamptz, under_mandate boolean,
  traceparent text
);

-- An item of move_payments. `consent_window` guards the two sides of an expiry: 'open' moves only before the consent's
-- end, 'ended' only after it.
create type payment_move as (
  merchant_id uuid, payment_id uuid, from_status text, to_status text, consent_from text, consent_to text,
  consent_window text, changed_by text, raw_payload text, audit_id uuid, delivery_id uuid, event_id text, event_type text,
  failure_code text, failure_source text, failure json, bank_reference text, bank_consent_reference text, redirect_url text,
  settle_seconds integer, refund json, refund_amount numeric, test boolean, debtor_account_scheme text,
  debtor_identification text, traceparent text
);
