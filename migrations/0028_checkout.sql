-- Payments that were started by a payer's browser with a checkout token (decisions 40 and 40b).
alter table payment_intents
  -- SHA-256 of the token: it stands for the order, which is paid once.
  add column checkout_token_hash char(64) check (checkout_token_hash ~ '^[0-9a-f]{64}$'),
  -- Where the shop takes the payer back after the receipt.
  add column return_url text;

-- One payment of a token at a time, unless it failed: two tabs can't pay one order twice.
create unique index payment_intents__checkout_token_hash on payment_intents (merchant_id, checkout_token_hash)
  where checkout_token_hash is not null and status <> 'Failed';

-- All that were tried with a token, the failed ones too: a token is not tried for ever.
create index payment_intents__checkout_tries on payment_intents (merchant_id, checkout_token_hash)
  where checkout_token_hash is not null;
