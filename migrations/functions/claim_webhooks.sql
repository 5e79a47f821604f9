-- Reads due rows for a worker, in one round trip, and takes the lanes that they are in (decision 286). Merchants are visited
-- in turn, from the one behind `after` round to itself, and each gives no more rows than its limit: a merchant with a long
-- backlog, or a slow endpoint, takes nothing from the others. A first attempt waits for the first attempts of the payment's
-- earlier events (decision 38). A claim includes the previous secret while it still signs (decision 37).
--
-- The worker names the lanes that it holds, with the number of rows that it has of each, and these rows, which are not
-- read again. A lane of which it has none is released, unless this claim reads due rows of it. Of merchants to skip, nothing
-- is read: too many slow ones have their turn before (webhooks/lanes.ts).
--
-- Claims do not wait for each other. Rows are read by a statement that begins after the lanes that change hands were
-- locked: it sees what their previous holder recorded.
create or replace function claim_webhooks(
  worker text, after uuid, rows_max integer, per_merchant_max integer, lease interval,
  held uuid[], held_counts integer[], held_rows uuid[], skipped uuid[] default '{}'
)
returns table (
  merchant_id uuid, delivery_id uuid, epoch integer, lease_ms integer, leases_lost smallint, event_id varchar,
  attempt_count smallint, payload text, webhook_url text, webhook_signing_secret text, webhook_secret_previous text,
  traceparent varchar
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
declare
  -- Where the round is: behind this merchant. Its second half begins again with the first, and ends with `after`.
  place uuid := after;
  is_second_half boolean := false;
  -- A few merchants have enough for most claims; a chunk that did not suffice is followed by a larger one.
  chunk integer := 16;
  visited uuid[];
  due uuid[];
  lacks_lane boolean;
  hands_change boolean;
  lanes webhook_lanes[];
  rows_found integer := 0;
  rows_of_chunk integer;
  -- The merchants whose lanes have been released already, where they had nothing.
  released uuid[] := '{}';
begin
  loop
    visited := array(
      with recursive merchant (id, is_second_half) as (
        select place, is_second_half
        union all
        -- A loose index scan: one probe for each merchant, however many rows it has.
        select n.id, n.is_second_half
        from merchant m
        cross join lateral (
          (
            select q.merchant_id as id, m.is_second_half
            from webhook_queue q
            where q.merchant_id > m.id
              and q.merchant_id <= case when m.is_second_half then after else 'ffffffff-ffff-ffff-ffff-ffffffffffff' end
            order by q.merchant_id
            limit 1
          )
          union all
          (
            select q.merchant_id, true
            from webhook_queue q
            where not m.is_second_half and q.merchant_id <= after
            order by q.merchant_id
            limit 1
          )
          limit 1
        ) n
      )
      -- Without the place itself.
      select m.id from merchant m limit chunk offset 1
    );
    select coalesce(array_agg(v.id order by v.nth), '{}'), coalesce(bool_or(l.merchant_id is null), false),
      coalesce(bool_or((l.worker = claim_webhooks.worker and l.locked_until > now() + lease / 2) is not true), false)
    into due, lacks_lane, hands_change
    from unnest(visited) with ordinality as v (id, nth)
    left join webhook_lanes l on l.merchant_id = v.id
    where v.id <> all (skipped)
      and exists (select from webhook_queue q where q.merchant_id = v.id and q.due_at <= now())
      and (l.locked_until is null or l.locked_until <= now() or l.worker = claim_webhooks.worker);
    if cardinality(due) > 0 then
      if lacks_lane then
        insert into webhook_lanes (merchant_id)
        select d.id from unnest(due) d (id)
        where not exists (select from webhook_lanes l where l.merchant_id = d.id)
        on conflict do nothing;
      end if;
      -- Only lanes that change hands, or whose lease is renewed, are locked: no other worker can take the rest.
      lanes := '{}';
      if hands_change then
        lanes := array(
          select l
          from unnest(due) d (id)
          join webhook_lanes l on l.merchant_id = d.id
          where l.locked_until is null or l.locked_until <= now()
            or (l.worker = claim_webhooks.worker and l.locked_until <= now() + lease / 2)
          for update of l skip locked
        );
        -- The holder of a lane was lost: it had at most this many rows in progress, the first ones. The lane is free then, so
        -- that they are counted once, also where this claim does not take it.
        with lost as (
          update webhook_lanes l
          set worker = null, locked_until = null
          from unnest(lanes) as found
          where found.locked_until is not null and found.worker <> claim_webhooks.worker and l.merchant_id = found.merchant_id
          returning l.merchant_id
        )
        update webhook_queue q
        set leases_lost = q.leases_lost + 1
        where q.ctid = any (
          array(
            select f.row_id
            from lost
            cross join lateral (
              select q.ctid as row_id from webhook_queue q
              where q.merchant_id = lost.merchant_id and q.due_at <= now()
              order by q.due_at, q.sequence
              limit per_merchant_max
            ) f
          )
        );
      end if;
      return query
      with lane as materialized (
        select d.id as merchant_id, d.nth, coalesce(k.epoch, l.epoch + case when l.worker = claim_webhooks.worker then 0 else 1 end) as epoch,
          -- A lease of which less than half is left is renewed.
          coalesce(k.locked_until, now() + lease) as locked_until,
          k.merchant_id is not null as is_kept, per_merchant_max - coalesce(h.count, 0) as room
        from unnest(due) with ordinality as d (id, nth)
        left join unnest(lanes) as l on l.merchant_id = d.id
        left join webhook_lanes k on k.merchant_id = d.id and k.worker = claim_webhooks.worker
          and k.locked_until > now() + lease / 2
        left join unnest(held, held_counts) as h (id, count) on h.id = d.id
        where coalesce(k.merchant_id, l.merchant_id) is not null
      ),
      ready as materialized (
        select q.merchant_id, q.delivery_id, q.leases_lost, l.epoch, l.locked_until, l.is_kept
        from (select * from lane order by nth) l
        cross join lateral (
          select q.merchant_id, q.delivery_id, q.leases_lost
          from webhook_queue q
          where q.merchant_id = l.merchant_id
            and q.due_at <= now()
            and q.delivery_id not in (select h.id from unnest(held_rows) as h (id))
            and (
              q.attempted
              or q.payment_intent_id is null
              or not exists (
                select from webhook_queue e
                where e.merchant_id = l.merchant_id
                  and e.payment_intent_id = q.payment_intent_id
                  and e.sequence < q.sequence
                  and not e.attempted
              )
            )
          order by q.due_at, q.sequence
          -- A lane of which the worker has most already waits: the rows that it has come first, and each would be passed by.
          limit case when l.room * 2 >= per_merchant_max then l.room else 0 end
        ) q
        limit rows_max - rows_found
      ),
      taken as (
        update webhook_lanes l
        set worker = claim_webhooks.worker, locked_until = r.locked_until, epoch = r.epoch
        from (select distinct r.merchant_id, r.locked_until, r.epoch from ready r where not r.is_kept) r
        where l.merchant_id = r.merchant_id
      ),
      idle as (
        update webhook_lanes l
        set worker = null, locked_until = null
        from unnest(held, held_counts) as h (id, count)
        where h.count = 0 and h.id = any (visited) and l.merchant_id = h.id and l.worker = claim_webhooks.worker
          and not exists (select from ready r where r.merchant_id = h.id)
      )
      select r.merchant_id, r.delivery_id, r.epoch, (extract(epoch from r.locked_until - now()) * 1000)::integer,
        r.leases_lost, d.event_id, d.attempt_count, d.payload::text, m.webhook_url, m.webhook_signing_secret,
        case when m.webhook_secret_previous_expires_at > now() then m.webhook_secret_previous end, d.traceparent
      from ready r
      join webhook_deliveries d on d.merchant_id = r.merchant_id and d.id = r.delivery_id
      join merchants m on m.id = r.merchant_id;
      get diagnostics rows_of_chunk = row_count;
      rows_found := rows_found + rows_of_chunk;
      released := released || visited;
    end if;
    exit when rows_found >= rows_max or cardinality(visited) < chunk;
    place := visited[chunk];
    is_second_half := place <= after;
    -- No more than the smallest claim has rows: what it locks and does not need, other workers pass by.
    chunk := least(chunk * 2, 128);
  end loop;
  if 0 = any (held_counts) then
    update webhook_lanes l
    set worker = null, locked_until = null
    from unnest(held, held_counts) as h (id, count)
    where h.count = 0 and h.id <> all (released) and l.merchant_id = h.id and l.worker = claim_webhooks.worker;
  end if;
end
$$;

revoke execute on function claim_webhooks(text, uuid, integer, integer, interval, uuid[], integer[], uuid[], uuid[]) from public;
grant execute on function claim_webhooks(text, uuid, integer, integer, interval, uuid[], integer[], uuid[], uuid[]) to svc_runtime;
