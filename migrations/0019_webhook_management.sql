-- What merchants manage about their webhooks: a pause, the answers of their endpoint, and the rotation of the secret.
alter table merchants
  -- Where deliveries go again once they are resumed. While paused, webhook_url is null, so that everything that looks at
  -- it waits as for a merchant without an endpoint: no statement on the hot path has to know what a pause is.
  add column paused_webhook_url text,
  -- What came before the address was set says nothing of it.
  add column webhook_url_set_at timestamptz not null default now(),
  -- Until when the replay of many deliveries is planned: the next one goes on behind it (webhooks/replay-sql.ts).
  add column webhook_replays_until timestamptz,
  -- The secret before the last rotation, sealed, which signs as well until then (decision 37).
  add column webhook_secret_previous text,
  add column webhook_secret_previous_expires_at timestamptz,
  add column webhook_secret_rotated_at timestamptz,
  add constraint merchants__paused check (webhook_url is null or paused_webhook_url is null),
  add constraint merchants__secret_overlap check (
    (webhook_secret_previous is null) = (webhook_secret_previous_expires_at is null)
  );

-- For forgetting the secrets whose overlap has passed.
create index merchants__secret_overlap_ends on merchants (webhook_secret_previous_expires_at)
where webhook_secret_previous_expires_at is not null;

-- At most the first 1024 bytes of what the endpoint answered.
alter table webhook_attempts add column response_body varchar(1024);

-- What an endpoint said last when it refused. Attempts that deliver, which are nearly all, cost it nothing.
create index webhook_attempts__failed on webhook_attempts (merchant_id, id) where outcome <> 'delivered';

-- In the order in which DEAD deliveries are counted, listed and sent again. Still none of its columns changes with a
-- delivery that succeeds at once (0005).
drop index webhook_deliveries__failing;
create index webhook_deliveries__failing on webhook_deliveries (merchant_id, created_at, id) where last_error is not null;

-- The deliveries that wait for an endpoint: exactly those at 'infinity' that are PENDING or FAILED (decision 38). Arming
-- takes the oldest of them, and lists of what waits read them, however long the history beside them is.
create table webhook_parked (
  merchant_id uuid not null,
  delivery_id uuid not null,
  -- The delivery's own.
  created_at timestamptz not null,
  primary key (merchant_id, delivery_id),
  foreign key (merchant_id, delivery_id) references webhook_deliveries (merchant_id, id)
) with (autovacuum_vacuum_scale_factor = 0.01);

create index webhook_parked__merchant_id__created_at__delivery_id on webhook_parked (merchant_id, created_at, delivery_id);

insert into webhook_parked (merchant_id, delivery_id, created_at)
select d.merchant_id, d.id, d.created_at
from webhook_deliveries d
where d.next_retry_at = 'infinity' and d.status in ('PENDING', 'FAILED');

grant select, insert, delete on webhook_parked to svc_runtime;

-- As in 0005, and what no endpoint arms is parked. Setting an endpoint waits for this transaction, and then sees its row.
create or replace function arm_late_webhook_delivery() returns trigger
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
  else
    insert into webhook_parked (merchant_id, delivery_id, created_at) values (new.merchant_id, new.id, new.created_at);
  end if;
  return null;
end
$$;

-- A claim brings the previous secret along while it still signs; otherwise as in 0005.
drop function claim_webhooks(text, uuid, integer, integer, interval);

create function claim_webhooks(worker text, after uuid, rows_max integer, per_merchant_max integer, lease interval)
returns table (
  merchant_id uuid, delivery_id uuid, claim_count integer, leases_lost smallint, event_id varchar, attempt_count smallint,
  payload text, webhook_url text, webhook_signing_secret text,
  webhook_secret_previous text
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
    m.webhook_url, m.webhook_signing_secret,
    case when m.webhook_secret_previous_expires_at > now() then m.webhook_secret_previous end
  from claimed c
  join webhook_deliveries d on d.merchant_id = c.merchant_id and d.id = c.delivery_id
  join merchants m on m.id = c.merchant_id;
end
$$;

revoke execute on function claim_webhooks(text, uuid, integer, integer, interval) from public;
grant execute on function claim_webhooks(text, uuid, integer, integer, interval) to svc_runtime;
