-- Merchants are the tenants; every tenant-owned table carries merchant_id and refers to its neighbours by
-- (merchant_id, id), so that the database itself refuses a reference from one tenant to another.
create type kyb_status as enum ('PENDING', 'APPROVED', 'SUSPENDED');

create table merchants (
  id uuid primary key,
  client_id text not null unique,
  legal_name text not null,
  trading_name text not null,
  name text not null,
  kyb_status kyb_status not null default 'PENDING',
  fee_percentage numeric(5, 4) not null check (fee_percentage >= 0 and fee_percentage < 1),
  fee_flat numeric(10, 2) not null check (fee_flat >= 0 and fee_flat <> 'NaN'),
  webhook_url text,
  is_active boolean not null default true,
  realm_slug text unique,
  -- 64 hex characters, sealed by the application (decision 37; the plain form never touches the disk).
  webhook_signing_secret text not null,
  branding_config json,
  payout_held boolean not null default false,
  payout_held_at timestamptz,
  payout_held_by text,
  -- What the merchant may charge in, and at most (decision 33).
  currencies text[] not null default '{GBP,EUR}',
  payment_amount_max numeric(19, 4) not null default 1000000.00 check (payment_amount_max > 0 and payment_amount_max <= 1000000.00),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (payout_held = (payout_held_at is not null))
);

grant select, insert, update on merchants to svc_runtime;

create table merchant_bank_accounts (
  id uuid not null,
  merchant_id uuid not null references merchants (id),
  account_holder_name text not null,
  encrypted_account_number text not null check (encrypted_account_number like 'v1.%'),
  encrypted_sort_code text not null check (encrypted_sort_code like 'v1.%'),
  encrypted_iban text check (encrypted_iban like 'v1.%'),
  is_active boolean not null default true,
  created_at timestamptz not null default now(),
  primary key (merchant_id, id)
);

grant select, insert, update on merchant_bank_accounts to svc_runtime;
