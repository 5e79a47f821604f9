-- Merchants are the tenants. Every table of a tenant carries merchant_id and refers to its neighbours by
-- (merchant_id, id), so that the database itself rejects a reference from one tenant to another.
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
  -- 64 hex characters, sealed by the application: the plain form never touches the disk (decision 37).
  webhook_signing_secret text not null,
  branding_config json,
  -- How long the periods of its settlements are.
  settlement_schedule text not null default 'DAILY' check (settlement_schedule in ('DAILY', 'WEEKLY', 'MANUAL')),
  payout_held boolean not null default false,
  payout_held_at timestamptz,
  payout_held_by text,
  -- The currencies that the merchant may charge in, and the largest payment (decision 33).
  currencies text[] not null default '{GBP,EUR}',
  payment_amount_max numeric(19, 4) not null default 1000000.00 check (payment_amount_max > 0 and payment_amount_max <= 1000000.00),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The address that deliveries return to when they are resumed. While they are paused, webhook_url is null, so that
  -- every reader of it waits as for a merchant without an endpoint: no statement on the hot path has to know of pauses.
  paused_webhook_url text,
  -- Responses from before this time came from another address and say nothing about this one.
  webhook_url_set_at timestamptz not null default now(),
  -- The time up to which a replay of many deliveries is planned: the next replay continues after it
  -- (webhooks/replay-sql.ts).
  webhook_replays_until timestamptz,
  -- The secret before the last rotation, sealed. Deliveries are signed with it as well until it expires (decision 37).
  webhook_secret_previous text,
  webhook_secret_previous_expires_at timestamptz,
  webhook_secret_rotated_at timestamptz,
  -- The pages that may embed the checkout.
  checkout_origins text[] not null default '{}' check (cardinality(checkout_origins) <= 50),
  check (payout_held = (payout_held_at is not null)),
  constraint merchants__paused check (webhook_url is null or paused_webhook_url is null),
  constraint merchants__secret_overlap check (
    (webhook_secret_previous is null) = (webhook_secret_previous_expires_at is null)
  )
);

-- The order in which operators list merchants.
create index merchants__created_at__id on merchants (created_at, id);
-- The merchants that wait for an operator's decision, few beside the others.
create index merchants__pending on merchants (created_at) where kyb_status = 'PENDING';
-- Finds the previous secrets whose overlap has passed, to erase them.
create index merchants__secret_overlap_ends on merchants (webhook_secret_previous_expires_at)
where webhook_secret_previous_expires_at is not null;

grant select, insert, update on merchants to svc_runtime;

-- Payout accounts; their numbers are sealed by the application.
create table merchant_bank_accounts (
  id uuid not null,
  merchant_id uuid not null references merchants (id),
  account_holder_name text not null,
  encrypted_account_number text not null check (encrypted_account_number like 'v1.%'),
  encrypted_sort_code text not null check (encrypted_sort_code like 'v1.%'),
  encrypted_iban text check (encrypted_iban like 'v1.%'),
  is_active boolean not null default true,
  created_at timestamptz not null default now(),
  disabled_at timestamptz,
  primary key (merchant_id, id),
  constraint merchant_bank_accounts__disabled check (is_active = (disabled_at is null))
);

create index merchant_bank_accounts__active on merchant_bank_accounts (merchant_id, created_at) where is_active;

grant select, insert, update on merchant_bank_accounts to svc_runtime;
