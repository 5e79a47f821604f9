-- Leases due rows to a worker, in one round trip. Merchants are visited in turn, from the one behind `after` round to
-- itself, and each gives no more rows than its cap leaves room for: a merchant with a long backlog, or a slow endpoint,
-- takes nothing from the others. A first attempt waits for the first attempts of the payment's earlier events (decision
-- 38). A claim includes the previous secret while it still signs (decision 37).
--
-- Claims take turns under one advisory lock, because two at once would each find the whole cap free. That is why this
-- is a function: only a statement that begins after the lock was gained sees the rows that the other claim took.
create or replace function claim_webhooks(worker text, after uuid, rows_max integer, per_merchant_max integer, lease interval)
returns table (
  merchant_id uuid, delivery_id uuid, claim_count integer, leases_lost smallint, event_id varchar, attempt_count smallint,
  payload text, webhook_url text, webhook_signing_secret text,
  webhook_secret_previous text
)
language plpgsql
set search_path = public, pg_temp
-- The plan is made while the queue is nearly empty, and kept when it is long: it must not read the whole queue.
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
-- The plan is the same whatever the arguments, and planning each claim would cost as much as a small claim itself.
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
    -- By ctid, because the planner cannot know how few rows there are and would read the whole queue.
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
