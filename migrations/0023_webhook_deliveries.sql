-- The outbox: a delivery row is inserted in the transaction of the state change that it announces (contract §Delivery
-- rules). Nearly all are delivered at their first attempt, and such a row is never written again: the attempt is the
-- record of it (decision 285). Statuses are read from webhook_log.
create type webhook_delivery_status as enum ('PENDING', 'DELIVERED', 'FAILED', 'DEAD');

create table webhook_deliveries (
  id uuid not null,
  merchant_id uuid not null references merchants (id),
  -- Null for events that concern no payment.
  payment_intent_id uuid,
  event_id varchar(64) not null unique,
  event_type varchar(64) not null,
  -- json and not jsonb: the bytes that are stored are the bytes that are signed and sent.
  payload json not null,
  status webhook_delivery_status not null default 'PENDING',
  attempt_count smallint not null default 0 check (attempt_count between 0 and 6),
  -- 'infinity' while the merchant has no endpoint (decision 38).
  next_retry_at timestamptz not null default now(),
  last_http_status smallint,
  last_error text,
  delivered_at timestamptz,
  -- The trace that the request to the merchant continues (decision 400).
  traceparent varchar(55),
  -- The event's position within its payment; first attempts leave in this order.
  sequence integer not null default 1,
  created_at timestamptz not null default now(),
  -- The pull feed reads events in an order that is safe against late commits: by the transaction that wrote them, and
  -- no further than the oldest running transaction (decision 56). A row's number alone is assigned before the commit,
  -- so a reader would skip the row that commits last.
  feed_xid xid8 not null default pg_current_xact_id(),
  feed_ordinal bigint generated always as identity,
  foreign key (merchant_id, payment_intent_id) references payment_intents (merchant_id, id),
  check ((status = 'DELIVERED') = (delivered_at is not null)),
  check (status <> 'DEAD' or attempt_count = 6),
  check (status <> 'FAILED' or attempt_count between 1 and 5),
  check (status <> 'PENDING' or attempt_count = 0)
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.01);

create index webhook_deliveries__merchant_id__created_at__id on webhook_deliveries (merchant_id, created_at desc, id desc);
create index webhook_deliveries__merchant_id__payment_intent_id on webhook_deliveries (merchant_id, payment_intent_id);
create index webhook_deliveries__merchant_id__feed on webhook_deliveries (merchant_id, feed_xid, feed_ordinal);
-- The same order over all merchants, for the stream of the operators' console.
create index webhook_deliveries__feed on webhook_deliveries (feed_xid, feed_ordinal);
-- After the other indexes of merchants: until the first statistics exist they cost the planner the same, and it takes the
-- latest. Another one than this reads every delivery of the merchant to check one foreign key.
alter table webhook_deliveries add primary key (merchant_id, id);
-- The order in which DEAD deliveries are counted, listed and replayed. It stays small however long the history is.
create index webhook_deliveries__dead on webhook_deliveries (merchant_id, created_at, id) where status = 'DEAD';

grant select, insert on webhook_deliveries to svc_runtime;
grant update (status, attempt_count, next_retry_at, last_http_status, last_error, delivered_at) on webhook_deliveries to svc_runtime;

-- Due deliveries are in a narrow queue beside the history, so that claiming them costs the same however long the
-- history is (functions/claim_webhooks.sql).
create table webhook_queue (
  merchant_id uuid not null,
  delivery_id uuid not null,
  payment_intent_id uuid,
  sequence integer not null,
  due_at timestamptz not null,
  -- Whether the first attempt was made: the next event of the same payment waits for it.
  attempted boolean not null default false,
  -- Consecutive leases that workers lost while it was among the first: it identifies a row that kills its workers.
  leases_lost smallint not null default 0,
  primary key (merchant_id, delivery_id),
  foreign key (merchant_id, delivery_id) references webhook_deliveries (merchant_id, id)
) with (autovacuum_vacuum_scale_factor = 0.01);

-- The sequence after the due time: rows that are scheduled for the same moment come in event order, so that a claim
-- never wades through rows that wait for one behind them.
create index webhook_queue__merchant_id__due_at__sequence on webhook_queue (merchant_id, due_at, sequence);
create index webhook_queue__payment on webhook_queue (merchant_id, payment_intent_id, sequence) where not attempted;

grant select, insert, update, delete on webhook_queue to svc_runtime;

-- Rows of the queue are not leased, because writing each would cost as much as delivering it: one worker at a time holds
-- the lane of a merchant and sends from it (decision 286). Rows are made when a merchant's first delivery is due.
create table webhook_lanes (
  -- Without a foreign key: its merchant has rows in the queue, which have one, and checking it would make the claim of all
  -- merchants wait while this one's endpoint is being changed.
  merchant_id uuid primary key,
  -- The worker that holds it; null while it is free.
  worker text,
  -- The end of the lease: the lane of a worker that dies becomes free then. The epoch fences off the previous holder.
  locked_until timestamptz,
  epoch integer not null default 0,
  check ((worker is null) = (locked_until is null))
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01);

grant select, insert, update on webhook_lanes to svc_runtime;

-- The deliveries that wait for an endpoint: exactly those at 'infinity' that are PENDING or FAILED (decision 38).
-- Setting an endpoint schedules the oldest of them, and lists of waiting deliveries read them, however long the history
-- is.
create table webhook_waiting (
  merchant_id uuid not null,
  delivery_id uuid not null,
  -- The delivery's own.
  created_at timestamptz not null,
  primary key (merchant_id, delivery_id),
  foreign key (merchant_id, delivery_id) references webhook_deliveries (merchant_id, id)
) with (autovacuum_vacuum_scale_factor = 0.01);

create index webhook_waiting__merchant_id__created_at__delivery_id on webhook_waiting (merchant_id, created_at, delivery_id);

grant select, insert, delete on webhook_waiting to svc_runtime;

-- Every attempt, for the merchant to see and as proof of the retry schedule. Without a foreign key: an attempt is only
-- inserted for a row of the queue, which has one, and checking it again would lock and write the delivery's row.
create table webhook_attempts (
  id bigint generated always as identity,
  merchant_id uuid not null,
  delivery_id uuid not null,
  attempt smallint not null check (attempt between 1 and 6),
  worker text not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  -- 'delivered' or the reason of the failure, from the closed list in webhooks/record.ts.
  outcome varchar(32) not null,
  http_status smallint,
  -- At most the first 1024 bytes of the endpoint's response.
  response_body varchar(1024),
  primary key (merchant_id, delivery_id, id)
);

-- The endpoint's last error response. Attempts that deliver, which are nearly all, are not in it.
create index webhook_attempts__failed on webhook_attempts (merchant_id, id) where outcome <> 'delivered';
-- When deliveries of a merchant became DEAD: operators are alerted to those of the last day.
create index webhook_attempts__last on webhook_attempts (merchant_id, started_at) where attempt = 6 and outcome <> 'delivered';

grant select, insert on webhook_attempts to svc_runtime;

-- Each delivery as it is now. A PENDING row has no attempts that failed, so one that has an attempt is DELIVERED.
create view webhook_log as
select d.id, d.merchant_id, d.payment_intent_id, d.event_id, d.event_type, d.payload,
  case when first.delivered_at is null then d.status else 'DELIVERED' end as status,
  case when first.delivered_at is null then d.attempt_count else 1::smallint end as attempt_count,
  case when first.delivered_at is null then d.next_retry_at else 'infinity' end as next_retry_at,
  coalesce(first.http_status, d.last_http_status) as last_http_status,
  d.last_error,
  coalesce(first.delivered_at, d.delivered_at) as delivered_at,
  d.sequence, d.created_at
from webhook_deliveries d
left join lateral (
  select a.http_status, a.started_at + a.duration_ms * interval '1 millisecond' as delivered_at
  from webhook_attempts a
  where d.status = 'PENDING' and a.merchant_id = d.merchant_id and a.delivery_id = d.id and a.outcome = 'delivered'
  limit 1
) first on true;

grant select on webhook_log to svc_runtime;
