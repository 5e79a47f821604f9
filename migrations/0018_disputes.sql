-- Disputes (specification, Dispute; decisions 22 to 24): a payer, the merchant or the platform contests a payment.
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
  -- What the merchant or the operator said who opened it.
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

-- Every refund that its resolutions ordered: one that the bank refused may be ordered again.
alter table payment_refunds
  add column dispute_id uuid,
  add foreign key (merchant_id, dispute_id) references disputes (merchant_id, id);
create index payment_refunds__merchant_id__dispute_id on payment_refunds (merchant_id, dispute_id)
  where dispute_id is not null;

-- One open dispute for each payment, whoever opens it.
create unique index disputes__open on disputes (merchant_id, payment_intent_id)
  where status in ('OPEN', 'UNDER_REVIEW', 'ESCALATED');
create index disputes__merchant_id__payment_intent_id on disputes (merchant_id, payment_intent_id);
create index disputes__merchant_id__created_at__id on disputes (merchant_id, created_at desc, id desc);
create index disputes__created_at__id on disputes (created_at desc, id desc);
-- The sweeper's claim.
create index disputes__evidence_due_at on disputes (evidence_due_at) where status = 'OPEN';

-- The moves of disputes/states.ts, asserted by the database as well.
create function guard_dispute_move() returns trigger
language plpgsql
as $$
begin
  if (old.status, new.status) not in (
    ('OPEN', 'UNDER_REVIEW'), ('OPEN', 'ESCALATED'), ('OPEN', 'RESOLVED_PAYER_FAVOUR'),
    ('UNDER_REVIEW', 'ESCALATED'), ('UNDER_REVIEW', 'RESOLVED_MERCHANT_FAVOUR'), ('UNDER_REVIEW', 'RESOLVED_PAYER_FAVOUR'),
    ('ESCALATED', 'RESOLVED_MERCHANT_FAVOUR'), ('ESCALATED', 'RESOLVED_PAYER_FAVOUR')
  ) then
    raise exception 'a dispute can''t move from % to %', old.status, new.status using errcode = 'check_violation';
  end if;
  return new;
end
$$;

create trigger guard_move before update of status on disputes
  for each row when (old.status is distinct from new.status) execute function guard_dispute_move();

-- All that happens to a dispute. Append-only and chained within the dispute, as the events of payments are.
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
  -- The statement, evidence, reason or note of this very step.
  note text,
  prev_hash char(64) not null,
  event_hash char(64) not null,
  created_at timestamptz not null default now(),
  foreign key (merchant_id, dispute_id) references disputes (merchant_id, id)
);

create index dispute_events__merchant_id__dispute_id__ordinal on dispute_events (merchant_id, dispute_id, ordinal);

create function dispute_event_hash(e dispute_events) returns text
language sql stable
as $$
  select encode(sha256(convert_to(concat_ws('|',
    e.prev_hash, e.ordinal, e.id, e.merchant_id, e.dispute_id, coalesce(e.previous_status::text, '-'), e.new_status,
    to_json(e.event), e.changed_by, coalesce(to_json(e.actor_id)::text, '-'), coalesce(to_json(e.actor_name)::text, '-'),
    coalesce(to_json(e.note)::text, '-'), to_char(e.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US')
  ), 'UTF8')), 'hex')
$$;

create function seal_dispute_event() returns trigger
language plpgsql
as $$
begin
  -- The dispute's row is inserted or locked by whoever moves it, which makes its events one after the other.
  select event_hash into new.prev_hash
  from dispute_events
  where merchant_id = new.merchant_id and dispute_id = new.dispute_id
  order by ordinal desc
  limit 1;
  new.prev_hash := coalesce(new.prev_hash, repeat('0', 64));
  new.event_hash := dispute_event_hash(new);
  return new;
end
$$;

create trigger seal before insert on dispute_events for each row execute function seal_dispute_event();
create trigger append_only before update or delete or truncate on dispute_events
  for each statement execute function refuse_change();

grant select, insert on disputes to svc_runtime;
grant update (
  status, merchant_evidence, evidence_missing, assignee, escalation_reason, resolution_note, resolved_by, refund_id,
  updated_at, resolved_at
) on disputes to svc_runtime;
grant select, insert on dispute_events to svc_runtime;
grant usage on sequence dispute_events_ordinal_seq to svc_runtime;

-- Time travel reaches the evidence deadline as well.
create or replace function sandbox_due_times(merchant uuid) returns table (due_at timestamptz)
language sql stable
set search_path = public, pg_temp
as $$
  select q.due_at from webhook_queue q where q.merchant_id = merchant
  union all
  select c.expires_at from payment_consents c where c.merchant_id = merchant and c.status = 'AWAITING_AUTHORISATION'
  union all
  select p.settle_at
  from payment_intents p
  where p.merchant_id = merchant and p.status = 'Authorised' and (p.locked_until is null or p.locked_until <= now())
  union all
  select r.resume_at from payment_refunds r where r.merchant_id = merchant and r.status = 'PENDING'
  union all
  select d.evidence_due_at from disputes d where d.merchant_id = merchant and d.status = 'OPEN'
$$;

create or replace function advance_sandbox_clock(merchant uuid, by interval) returns void
language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  update webhook_queue set due_at = due_at - by where merchant_id = merchant;
  -- What is queued is what has a time, and a few beside the history.
  update webhook_deliveries d
  set next_retry_at = d.next_retry_at - by
  from webhook_queue q
  where q.merchant_id = merchant and d.merchant_id = q.merchant_id and d.id = q.delivery_id;
  update payment_consents set expires_at = expires_at - by where merchant_id = merchant and status = 'AWAITING_AUTHORISATION';
  update payment_intents
  set settle_at = settle_at - by, locked_until = locked_until - by
  where merchant_id = merchant and status = 'Authorised';
  update payment_refunds set resume_at = resume_at - by where merchant_id = merchant and status = 'PENDING';
  update disputes set evidence_due_at = evidence_due_at - by where merchant_id = merchant and status = 'OPEN';
  -- The overlap of a secret's rotation ends in the merchant's own time.
  update merchants
  set webhook_secret_previous_expires_at = webhook_secret_previous_expires_at - by
  where id = merchant and webhook_secret_previous_expires_at is not null;
  -- What was planned of a replay has moved with the queue.
  update merchants
  set webhook_replays_until = webhook_replays_until - by
  where id = merchant and webhook_replays_until is not null;
end
$$;
