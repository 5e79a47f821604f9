-- The audit trail of payments (contract §Payment event). Append-only in the database itself: triggers reject update,
-- delete and truncate for every login (functions/refuse_change.sql), and the runtime role has no right to any of them,
-- nor to an insert of its own. Each row carries the hash of its payload and of the previous row of the same payment, so
-- that an edit by a superuser behind the triggers is detected (functions/seal_payment_event.sql).
create table payment_events (
  ordinal bigserial primary key,
  id uuid not null unique,
  merchant_id uuid not null,
  payment_intent_id uuid not null,
  previous_status payment_status,
  new_status payment_status not null,
  changed_by varchar(100) not null check (changed_by in ('MERCHANT_API', 'BANK_CALLBACK', 'BATCH_JOB')),
  -- json and not jsonb: the text is stored as it came, and the hash is of that text.
  raw_payload json not null,
  raw_payload_sha256 char(64) not null,
  prev_hash char(64) not null,
  event_hash char(64) not null,
  created_at timestamptz not null default now(),
  -- What the payment was created with, on its first event only: `svc audit verify` compares it with the payment.
  gross_amount numeric(19, 4),
  fee_amount numeric(19, 4),
  net_amount numeric(19, 4),
  currency char(3),
  check (num_nonnulls(gross_amount, fee_amount, net_amount, currency) = case when previous_status is null then 4 else 0 end),
  foreign key (merchant_id, payment_intent_id) references payment_intents (merchant_id, id),
  -- The transition table a second time; a test compares it with payments/states.ts.
  constraint payment_events__transition check (
    case previous_status
      when 'Initiated' then new_status in ('AwaitingAuthorisation', 'Failed')
      when 'AwaitingAuthorisation' then new_status in ('Authorised', 'Failed')
      when 'Authorised' then new_status in ('Settled', 'Failed')
      when 'Settled' then new_status = 'Refunded'
      -- A comparison with null would be null, which a check accepts as true.
      else previous_status is null and new_status in ('Initiated', 'AwaitingAuthorisation')
    end
  )
);

-- The events of a payment, and its path: one first event, and one from each status (functions/seal_payment_event.sql).
create unique index payment_events__path on payment_events (merchant_id, payment_intent_id, previous_status)
  nulls not distinct;
-- The console's total of settled payments since a moment: one entry for each settled payment, in a table that only
-- grows.
create index payment_events__settled on payment_events (merchant_id, created_at) where new_status = 'Settled';

grant select on payment_events to svc_runtime;
