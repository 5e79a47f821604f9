-- Disputes (contract §Dispute; decisions 22 to 24): a payer, the merchant or the platform contests a payment.
-- functions/guard_dispute_move.sql allows the moves.
create type dispute_opened_by as enum ('PAYER', 'MERCHANT', 'PLATFORM');
create type dispute_reason as enum ('ITEM_NOT_RECEIVED', 'DUPLICATE_PAYMENT', 'INCORRECT_AMOUNT', 'UNAUTHORISED', 'OTHER');
create type dispute_status as enum (
  'OPEN', 'UNDER_REVIEW', 'RESOLVED_MERCHANT_FAVOUR', 'RESOLVED_PAYER_FAVOUR', 'ESCALATED'
);

create table disputes (
  id uuid not null unique,
  merchant_id uuid not null references merchants (id),
  payment_intent_id uuid not null,
  opened_by dispute_opened_by not null,
  reason dispute_reason not null,
  status dispute_status not null default 'OPEN',
  payer_statement text,
  -- The statement of the merchant or operator who opened it.
  statement text,
  merchant_evidence text,
  evidence_due_at timestamptz not null,
  -- The deadline passed without evidence.
  evidence_missing boolean not null default false,
  assignee text,
  escalation_reason text,
  resolution_note text,
  resolved_by text,
  -- The refund that the resolution ordered (decision 24).
  refund_id uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  resolved_at timestamptz,
  primary key (merchant_id, id),
  foreign key (merchant_id, payment_intent_id) references payment_intents (merchant_id, id),
  foreign key (merchant_id, refund_id) references payment_refunds (merchant_id, id),
  check ((status in ('RESOLVED_MERCHANT_FAVOUR', 'RESOLVED_PAYER_FAVOUR')) = (resolved_at is not null))
);

-- Refunds and disputes refer to each other, so this half follows here.
alter table payment_refunds add foreign key (merchant_id, dispute_id) references disputes (merchant_id, id);

-- One open dispute for each payment, whichever side opens it.
create unique index disputes__open on disputes (merchant_id, payment_intent_id)
  where status in ('OPEN', 'UNDER_REVIEW', 'ESCALATED');
create index disputes__merchant_id__payment_intent_id on disputes (merchant_id, payment_intent_id);
create index disputes__merchant_id__created_at__id on disputes (merchant_id, created_at desc, id desc);
create index disputes__created_at__id on disputes (created_at desc, id desc);
-- The sweeper's claim.
create index disputes__evidence_due_at on disputes (evidence_due_at) where status = 'OPEN';
-- The open disputes of all merchants, and those of one: few beside the history.
create index disputes__status on disputes (status, created_at) where status in ('OPEN', 'UNDER_REVIEW', 'ESCALATED');

grant select, insert on disputes to svc_runtime;
grant update (
  status, merchant_evidence, evidence_missing, assignee, escalation_reason, resolution_note, resolved_by, refund_id,
  updated_at, resolved_at
) on disputes to svc_runtime;

-- Every step of a dispute. Append-only (functions/refuse_change.sql) and chained within the dispute, as the events of
-- payments are (functions/seal_dispute_event.sql).
create table dispute_events (
  ordinal bigserial primary key,
  id uuid not null unique,
  merchant_id uuid not null,
  dispute_id uuid not null,
  previous_status dispute_status,
  new_status dispute_status not null,
  -- The trigger in disputes/states.ts.
  event varchar(64) not null,
  changed_by varchar(16) not null check (changed_by in ('PAYER', 'MERCHANT', 'PLATFORM', 'BATCH_JOB')),
  -- The token's subject and a name for people; null for a payer and a job.
  actor_id text,
  actor_name text,
  -- The statement, evidence, reason or note of this step.
  note text,
  prev_hash char(64) not null,
  event_hash char(64) not null,
  created_at timestamptz not null default now(),
  -- What is disputed, on the first event only (functions/seal_dispute_event.sql).
  payment_intent_id uuid,
  gross_amount numeric(19, 4),
  currency char(3),
  check (num_nonnulls(payment_intent_id, gross_amount, currency) = case when previous_status is null then 3 else 0 end),
  foreign key (merchant_id, dispute_id) references disputes (merchant_id, id)
);

create index dispute_events__merchant_id__dispute_id__ordinal on dispute_events (merchant_id, dispute_id, ordinal);

grant select, insert on dispute_events to svc_runtime;
grant usage on sequence dispute_events_ordinal_seq to svc_runtime;
