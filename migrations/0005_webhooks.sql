-- The outbox: a delivery row is inserted in the transaction of the state change it announces (specification, Delivery
-- rules 1). What is due stands in a narrow queue beside it, so that claiming costs the same however long the history is.
create type webhook_delivery_status as enum ('PENDING', 'DELIVERED', 'FAILED', 'DEAD');

create table webhook_deliveries (
  id uuid not null,
  merchant_id uuid not null references merchants (id),
  -- Null for what is about no payment.
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
  -- Order within the payment; first attempts leave in this order.
  sequence smallint not null default 1,
  created_at timestamptz not null default now(),
  primary key (merchant_id, id),
  foreign key (merchant_id, payment_intent_id) references payment_intents (merchant_id, id),
  check ((status = 'DELIVERED') = (delivered_at is not null)),
  check (status <> 'DEAD' or attempt_count = 6),
  check (status <> 'FAILED' or attempt_count between 1 and 5),
  check (status <> 'PENDING' or attempt_count = 0)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);

create index webhook_deliveries__merchant_id__created_at__id on webhook_deliveries (merchant_id, created_at desc, id desc);
create index webhook_deliveries__merchant_id__payment_intent_id on webhook_deliveries (merchant_id, payment_intent_id);

create table webhook_queue (
  merchant_id uuid not null,
  delivery_id uuid not null,
  payment_intent_id uuid,
  sequence smallint not null,
  due_at timestamptz not null,
  -- Whether the first attempt was made: the next event of the same payment waits for it.
  attempted boolean not null default false,
  -- The lease: a worker that dies gives the row back when it ends. claim_count is the fence of its holder.
  locked_until timestamptz,
  locked_by text,
  claim_count integer not null default 0,
  -- Leases in a row that ended without a recorded attempt: a row that kills its workers is found by it.
  leases_lost smallint not null default 0,
  primary key (merchant_id, delivery_id),
  foreign key (merchant_id, delivery_id) references webhook_deliveries (merchant_id, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);

-- The sequence behind the due time: rows that are armed at the same moment come in event order, so that the claim never
-- wades through rows that wait for one behind them.
create index webhook_queue__merchant_id__due_at__sequence on webhook_queue (merchant_id, due_at, sequence);
create index webhook_queue__merchant_id__locked_until on webhook_queue (merchant_id, locked_until) where locked_until is not null;
create index webhook_queue__payment on webhook_queue (merchant_id, payment_intent_id, sequence) where not attempted;

-- One mechanism arms every delivery, whoever inserts it: nothing can be recorded and then forgotten.
create function queue_webhook_delivery() returns trigger
language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  insert into webhook_queue (merchant_id, delivery_id, payment_intent_id, sequence, due_at)
  values (new.merchant_id, new.id, new.payment_intent_id, new.sequence, new.next_retry_at);
  return null;
end
$$;

create trigger queue after insert on webhook_deliveries
  for each row when (new.status = 'PENDING' and new.next_retry_at < 'infinity') execute function queue_webhook_delivery();

-- A row without an endpoint may be written while another transaction sets one, which then does not see the row. Setting
-- an endpoint locks the merchant against the row's foreign key, and this looks again once that lock was waited for: a
-- statement of a volatile function has a snapshot of its own, and the key's trigger comes first by its name.
create function arm_late_webhook_delivery() returns trigger
language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  update webhook_deliveries d
  set next_retry_at = now()
  from merchants m
  where m.id = new.merchant_id and m.webhook_url is not null and d.merchant_id = new.merchant_id and d.id = new.id;
  if found then
    insert into webhook_queue (merchant_id, delivery_id, payment_intent_id, sequence, due_at)
    values (new.merchant_id, new.id, new.payment_intent_id, new.sequence, now());
  end if;
  return null;
end
$$;

create trigger queue_late after insert on webhook_deliveries
  for each row when (new.status = 'PENDING' and new.next_retry_at = 'infinity') execute function arm_late_webhook_delivery();

-- Leases due rows to a worker, in one round trip. Merchants are visited in turn, from the one behind `after` round to
-- itself, and each gives no more than its cap leaves room for: one with a long backlog, or a slow endpoint, takes
-- nothing from the others. A first attempt waits for the first attempts of the payment's earlier events (decision 38).
--
-- Claims take turns under one advisory lock, for two at once would each find the whole cap free. That is why this is a
-- function: only a statement that begins after the lock was gained sees what the other claim took.
create function claim_webhooks(worker text, after uuid, rows_max integer, per_merchant_max integer, lease interval)
returns table (
  merchant_id uuid, delivery_id uuid, claim_count integer, leases_lost smallint, event_id varchar, attempt_count smallint,
  payload text, webhook_url text, webhook_signing_secret text
)
language plpgsql
set search_path = public, pg_temp
-- The plan is made while the queue is nearly empty, and kept when it is long: it must not be one that reads it all.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
-- The plan is the same whatever the arguments: made anew for each claim, it would cost as much as a small claim itself.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  perform pg_advisory_xact_lock(7387271932003);
  return query
  with recursive behind (id) as (
    -- A loose index scan: one probe for each merchant, however many rows it has.
    (select q.merchant_id from webhook_queue q where q.merchant_id > after order by q.merchant_id limit 1)
    union all
    select (select q.merchant_id from webhook_queue q where q.merchant_id > b.id order by q.merchant_id limit 1)
    from behind b
    where b.id is not null
  ),
  ahead (id) as (
    (select q.merchant_id from webhook_queue q where q.merchant_id <= after order by q.merchant_id limit 1)
    union all
    select (
      select q.merchant_id from webhook_queue q where q.merchant_id > a.id and q.merchant_id <= after
      order by q.merchant_id limit 1
    )
    from ahead a
    where a.id is not null
  ),
  due as (
    select q.row_id
    from (select id from behind union all select id from ahead) m
    cross join lateral (
      select greatest(per_merchant_max - count(*), 0) as free
      from webhook_queue l
      where l.merchant_id = m.id and l.locked_until > now()
    ) room
    cross join lateral (
      select q.ctid as row_id
      from webhook_queue q
      where q.merchant_id = m.id
        and q.due_at <= now()
        and (q.locked_until is null or q.locked_until <= now())
        and (
          q.attempted
          or q.payment_intent_id is null
          or not exists (
            select from webhook_queue e
            where e.merchant_id = m.id
              and e.payment_intent_id = q.payment_intent_id
              and e.sequence < q.sequence
              and not e.attempted
          )
        )
      order by q.due_at, q.sequence
      limit room.free
      for update skip locked
    ) q
    where m.id is not null
    limit rows_max
  ),
  claimed as (
    update webhook_queue q
    set locked_until = now() + lease,
      locked_by = worker,
      claim_count = q.claim_count + 1,
      leases_lost = q.leases_lost + case when q.locked_until is null then 0 else 1 end
    -- By their place, for the planner can't know how few there are and would read the whole queue.
    where q.ctid = any (array(select due.row_id from due))
    returning q.merchant_id, q.delivery_id, q.claim_count, q.leases_lost
  )
  select c.merchant_id, c.delivery_id, c.claim_count, c.leases_lost, d.event_id, d.attempt_count, d.payload::text,
    m.webhook_url, m.webhook_signing_secret
  from claimed c
  join webhook_deliveries d on d.merchant_id = c.merchant_id and d.id = c.delivery_id
  join merchants m on m.id = c.merchant_id;
end
$$;

revoke execute on function claim_webhooks(text, uuid, integer, integer, interval) from public;
grant execute on function claim_webhooks(text, uuid, integer, integer, interval) to svc_runtime;

-- Every attempt that was made, for the merchant's eyes and for the proof of the retry schedule.
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
  primary key (merchant_id, delivery_id, id),
  foreign key (merchant_id, delivery_id) references webhook_deliveries (merchant_id, id)
);

grant select, insert on webhook_deliveries to svc_runtime;
grant update (status, attempt_count, next_retry_at, last_http_status, last_error, delivered_at) on webhook_deliveries to svc_runtime;
grant select, insert, update, delete on webhook_queue to svc_runtime;
grant select, insert on webhook_attempts to svc_runtime;

-- What the operator is told about: few, so the index is small however long the history is. By the error and not by the
-- status, for a delivery that succeeds at once changes no column of any index then, and its update costs none of them.
create index webhook_deliveries__failing on webhook_deliveries (merchant_id) where last_error is not null;
