-- Consents and payment intents (specification, Resources). The statuses have no grant to the runtime role: they are
-- written by create_payments and move_payments alone.
create type consent_type as enum ('SINGLE_IMMEDIATE', 'VARIABLE_RECURRING');
create type consent_status as enum ('AWAITING_AUTHORISATION', 'AUTHORISED', 'REJECTED', 'REVOKED', 'EXPIRED');
create type debtor_account_scheme as enum ('UK.OBIE.SortCodeAccountNumber', 'UK.OBIE.IBAN');
create type payment_status as enum ('Initiated', 'AwaitingAuthorisation', 'Authorised', 'Settled', 'Failed', 'Refunded');

create table payment_consents (
  id uuid not null,
  merchant_id uuid not null references merchants (id),
  consent_type consent_type not null,
  status consent_status not null,
  bank_consent_reference text unique,
  amount numeric(19, 4) check (amount > 0 and amount <> 'NaN'),
  currency char(3) not null check (currency ~ '^[A-Z]{3}$'),
  control_parameters json,
  expires_at timestamptz not null,
  payer_name varchar(140),
  debtor_account_scheme debtor_account_scheme,
  debtor_identification varchar(34),
  remittance_reference varchar(18),
  debtor_bank_id varchar(50),
  -- Additive: what ties a payment to a payer's verified contact (decision 41), and the sandbox's behaviour (3.8).
  payer_email text,
  payer_phone text,
  sandbox_scenario varchar(64),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (merchant_id, id),
  check ((consent_type = 'SINGLE_IMMEDIATE') = (control_parameters is null)),
  check ((consent_type = 'SINGLE_IMMEDIATE') = (amount is not null))
);

-- The expiry sweeper's claim: only what still waits, in the order of its end.
create index payment_consents__expires_at on payment_consents (expires_at) where status = 'AWAITING_AUTHORISATION';

create table payment_intents (
  id uuid not null unique,
  merchant_id uuid not null references merchants (id),
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
  -- The connector that the payment went to: it alone may report on it, execute it and refund it.
  bank_connector varchar(50) not null,
  bank_reference text,
  failure_code text,
  -- Whose doing the failure is, where one code has two causes: the payer cancels at the bank, or on our page.
  failure_source text,
  refunded_amount numeric(19, 4) not null default 0,
  -- Reserved by refunds that the bank has not answered yet (decision 21).
  refund_reserved_amount numeric(19, 4) not null default 0,
  redirect_uri text not null,
  redirect_url text,
  metadata json,
  -- When the settlement job executes it.
  settle_at timestamptz,
  -- Until when a job that calls the bank holds it; a job that dies gives it back.
  locked_until timestamptz,
  -- How many webhooks this payment has queued: the `sequence` of the next one is one more (decision 36).
  webhook_sequence smallint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (merchant_id, id),
  unique (merchant_id, idempotency_key),
  foreign key (merchant_id, consent_id) references payment_consents (merchant_id, id),
  check (amount = gross_amount),
  check (net_amount = gross_amount - fee_amount),
  check (refunded_amount >= 0 and refund_reserved_amount >= 0 and refunded_amount + refund_reserved_amount <= gross_amount),
  check ((status = 'Failed') = (failure_code is not null)),
  check ((failure_code is null) = (failure_source is null)),
  check (status <> 'Refunded' or refunded_amount = gross_amount)
);

create index payment_intents__merchant_id__created_at__id on payment_intents (merchant_id, created_at desc, id desc);
-- Consent first: led by the merchant it would, before the first statistics, be taken for the check of a foreign key to
-- (merchant_id, id), and read everything the merchant has.
create index payment_intents__consent_id__merchant_id on payment_intents (consent_id, merchant_id);
create index payment_intents__settle_at on payment_intents (settle_at) where status = 'Authorised';
-- Payments that a crash left between being recorded and being staged at the bank (decision 17).
create index payment_intents__created_at__initiated on payment_intents (created_at) where status = 'Initiated';

grant select on payment_consents, payment_intents to svc_runtime;
grant update (settle_at, locked_until, refund_reserved_amount, refunded_amount, webhook_sequence, updated_at) on payment_intents to svc_runtime;
-- Guarded updates lock the row of a consent while they decide over its payment.
grant update (updated_at) on payment_consents to svc_runtime;
