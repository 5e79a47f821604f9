-- Consents: the payer's agreement to one payment, or to many under a mandate (contract §Payment consent). The runtime
-- role has no right to the status: create_payments, move_payments, revoke_consent and expire_mandates write it, and
-- functions/guard_consent_move.sql allows the moves.
create type consent_type as enum ('SINGLE_IMMEDIATE', 'VARIABLE_RECURRING');
create type consent_status as enum ('AWAITING_AUTHORISATION', 'AUTHORISED', 'REJECTED', 'REVOKED', 'EXPIRED');
create type debtor_account_scheme as enum ('UK.OBIE.SortCodeAccountNumber', 'UK.OBIE.IBAN');

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
  -- Sealed: the payer's account number.
  debtor_identification text check (debtor_identification like 'v1.%'),
  -- Whether the bank has named it: otherwise it is what the merchant said (decision 413).
  debtor_is_from_bank boolean not null default false,
  remittance_reference varchar(18),
  debtor_bank_id varchar(50),
  -- Additions of our own: keyed hashes of the contact that ties a payment to its payer (decision 277), and the sandbox
  -- scenario.
  payer_email_hash char(64) check (payer_email_hash ~ '^[0-9a-f]{64}$'),
  payer_phone_hash char(64) check (payer_phone_hash ~ '^[0-9a-f]{64}$'),
  sandbox_scenario varchar(64),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- When the mandate ends; copied to expires_at once the bank has authorised it (decision 49).
  valid_to timestamptz,
  -- When a job next reports the end of the mandate to its bank; null while there is nothing to report.
  revocation_due_at timestamptz,
  revoked_by text check (revoked_by in ('PAYER', 'MERCHANT')),
  primary key (merchant_id, id),
  check ((consent_type = 'SINGLE_IMMEDIATE') = (control_parameters is null)),
  check ((consent_type = 'SINGLE_IMMEDIATE') = (amount is not null)),
  constraint payment_consents__valid_to check ((consent_type = 'VARIABLE_RECURRING') = (valid_to is not null)),
  constraint payment_consents__revoked_by check ((status = 'REVOKED') = (revoked_by is not null))
);

-- The expiry sweeper's claim: only consents that still wait, in the order of their expiry.
create index payment_consents__expires_at on payment_consents (expires_at) where status = 'AWAITING_AUTHORISATION';
create index payment_consents__recurring on payment_consents (merchant_id, created_at desc, id desc)
  where consent_type = 'VARIABLE_RECURRING';
create index payment_consents__recurring__expires_at on payment_consents (expires_at)
  where consent_type = 'VARIABLE_RECURRING' and status = 'AUTHORISED';
create index payment_consents__revocation_due_at on payment_consents (revocation_due_at)
  where revocation_due_at is not null;
create index payment_consents__payer_email on payment_consents (payer_email_hash, created_at desc)
  where payer_email_hash is not null;
create index payment_consents__payer_phone on payment_consents (payer_phone_hash, created_at desc)
  where payer_phone_hash is not null;

grant select on payment_consents to svc_runtime;
-- Guarded updates lock the row of a consent while they decide about its payment.
grant update (updated_at) on payment_consents to svc_runtime;
grant update (revocation_due_at) on payment_consents to svc_runtime;
-- The account number is sealed again with each new master key.
grant update (debtor_identification) on payment_consents to svc_runtime;
