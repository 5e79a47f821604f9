-- What operators book into a merchant's balance or out of it, where no payment, refund or payout is the reason: a fee that
-- is given back, or money at the bank that is the merchant's. The ledger has an entry of each, and the audit trail its
-- reason; reconciliation names an entry without them.
create table corrections (
  id uuid not null,
  merchant_id uuid not null references merchants (id),
  currency char(3) not null check (currency ~ '^[A-Z]{3}$'),
  -- What clearing gets, or with a minus what it gives.
  amount numeric(19, 4) not null check (amount <> 0 and amount <> 'NaN'),
  booked_against ledger_account not null check (booked_against in ('bank', 'fees_earned')),
  -- What the merchant reads beside the line of its settlement.
  reference varchar(140),
  -- A repeated request is the same correction.
  idempotency_key text,
  -- The returned refund that it credits, which is credited once.
  refund_id uuid,
  -- The payment that had failed when its bank settled it, which all that name it credit once together (decision 438).
  payment_id uuid,
  created_by text not null,
  created_at timestamptz not null default now(),
  primary key (merchant_id, id),
  unique (merchant_id, idempotency_key),
  unique (merchant_id, refund_id),
  foreign key (merchant_id, refund_id) references payment_refunds (merchant_id, id),
  foreign key (merchant_id, payment_id) references payment_intents (merchant_id, id),
  -- A bank moves whole pennies.
  check (booked_against <> 'bank' or amount = round(amount, 2)),
  check (coalesce(refund_id, payment_id) is null or (booked_against = 'bank' and amount > 0))
);

create index corrections__payment_id on corrections (merchant_id, payment_id) where payment_id is not null;

grant select, insert on corrections to svc_runtime;
