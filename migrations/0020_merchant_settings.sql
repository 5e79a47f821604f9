-- What a merchant sets: which pages may embed the checkout, and when an account for payouts was disabled.
alter table merchants add column checkout_origins text[] not null default '{}' check (cardinality(checkout_origins) <= 50);

alter table merchant_bank_accounts
  add column disabled_at timestamptz,
  add constraint merchant_bank_accounts__disabled check (is_active = (disabled_at is null));

create index merchant_bank_accounts__active on merchant_bank_accounts (merchant_id, created_at) where is_active;
