-- Refunds, in the two steps around the bank of decision 21: a row PENDING with its amount reserved on the payment, and,
-- once the bank has answered, EXECUTED or FAILED. A crash between the two leaves a PENDING row that the job resumes.
-- Refunds that no bank API carries out go to the bank in the files of payouts. Such a refund is PENDING, and no job asks a
-- bank about it: it has an end-to-end id of its own instead of a time. It is in one file only.
create type refund_status as enum ('PENDING', 'EXECUTED', 'FAILED');

create table payment_refunds (
  id uuid not null,
  merchant_id uuid not null,
  payment_intent_id uuid not null,
  amount numeric(19, 4) not null check (amount > 0 and amount <> 'NaN'),
  reason text,
  status refund_status not null default 'PENDING',
  failure_code text,
  idempotency_key varchar(255),
  request_fingerprint char(64) not null,
  -- The request as it came; the audit event of a completed refund keeps it.
  raw_payload text not null,
  bank_reference text,
  -- When the job asks the bank again; in the future while a process is asking it. Null where it goes by file.
  resume_at timestamptz,
  attempt_count integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The dispute whose resolution ordered the refund. One that the bank rejected may be ordered again, so a dispute may
  -- have several.
  dispute_id uuid,
  -- The trace of the request that ordered it (decision 400), and whether the service began it.
  traceparent varchar(55),
  is_own_trace boolean,
  end_to_end_id varchar(35) unique,
  file_id uuid references payout_files (id),
  sent_at timestamptz,
  primary key (merchant_id, id),
  unique (merchant_id, payment_intent_id, idempotency_key),
  foreign key (merchant_id, payment_intent_id) references payment_intents (merchant_id, id),
  check ((status = 'FAILED') = (failure_code is not null)),
  check ((traceparent is null) = (is_own_trace is null)),
  check (num_nonnulls(resume_at, end_to_end_id) = 1),
  check (num_nonnulls(file_id, sent_at) <> 1),
  check (file_id is null or end_to_end_id is not null),
  -- Without a file no bank has heard of it; it can fail, where no file can take it.
  check (end_to_end_id is null or status <> 'EXECUTED' or file_id is not null)
);

create index payment_refunds__resume_at on payment_refunds (resume_at) where status = 'PENDING';
create index payment_refunds__created_at on payment_refunds (created_at);
create index payment_refunds__merchant_id__dispute_id on payment_refunds (merchant_id, dispute_id)
  where dispute_id is not null;
-- Those of disputes that the bank rejected are tasks until they are ordered again.
create index payment_refunds__rejected on payment_refunds (updated_at) where status = 'FAILED' and dispute_id is not null;
-- What reconciling a day reads.
create index payment_refunds__executed on payment_refunds (merchant_id, updated_at) where status = 'EXECUTED';
create index payment_refunds__to_file on payment_refunds (created_at, id)
  where status = 'PENDING' and end_to_end_id is not null and file_id is null;
create index payment_refunds__file_id on payment_refunds (file_id) where file_id is not null;
create index payment_refunds__sent_at on payment_refunds (sent_at) where sent_at is not null;

grant select, insert on payment_refunds to svc_runtime;
grant update (status, failure_code, bank_reference, resume_at, attempt_count, updated_at, file_id, sent_at) on payment_refunds
  to svc_runtime;

-- Every step of a refund, because a partial refund has no payment event. A trigger on the refund writes them
-- (functions/record_refund_event.sql), and no login has a right to insert. Append-only (functions/refuse_change.sql) and
-- chained within the refund, as the events of payments are (functions/seal_refund_event.sql).
create table refund_events (
  ordinal bigserial primary key,
  id uuid not null unique,
  merchant_id uuid not null,
  refund_id uuid not null,
  previous_status refund_status,
  new_status refund_status not null,
  prev_hash char(64) not null,
  event_hash char(64) not null,
  created_at timestamptz not null default now(),
  -- What is refunded, on the first event only.
  payment_intent_id uuid,
  amount numeric(19, 4),
  currency char(3),
  check (num_nonnulls(payment_intent_id, amount, currency) = case when previous_status is null then 3 else 0 end),
  foreign key (merchant_id, refund_id) references payment_refunds (merchant_id, id),
  constraint refund_events__transition check (
    case
      when previous_status is null then new_status = 'PENDING'
      else previous_status = 'PENDING' and new_status in ('EXECUTED', 'FAILED')
    end
  )
);

create index refund_events__merchant_id__refund_id__ordinal on refund_events (merchant_id, refund_id, ordinal);

grant select on refund_events to svc_runtime;
