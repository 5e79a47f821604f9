-- Tells those who look that a delivery has become DEAD, or is none any more: no event announces it. The channel is that of
-- 0036, with whose it is. WHEN is looked at before anything is queued, so that what arrives, or will be tried again, costs
-- nothing; of many of one merchant in a transaction PostgreSQL sends one.
create function tell_consoles_of_dead() returns trigger
language plpgsql
as $$
begin
  perform pg_notify('svc_wake', 'console:deliveries:' || new.merchant_id);
  return null;
end
$$;

create trigger tell_consoles after update of status on webhook_deliveries
  for each row when (old.status is distinct from new.status and 'DEAD' in (old.status, new.status))
  execute function tell_consoles_of_dead();

-- How the newest deliveries of some merchants have ended. The order is the index's, whatever the planner believes of a
-- merchant: sorting would read the whole history of one that has a long one. Each row is a page of the table of its own.
create function count_recent_deliveries(merchants uuid[], looked_at integer)
returns table (merchant_id uuid, delivered integer, dead integer)
language plpgsql
stable
set search_path = public, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
#variable_conflict use_column
begin
  return query
  select m.id, ended.delivered, ended.dead
  from unnest(merchants) as m (id)
  cross join lateral (
    select (count(*) filter (where newest.status = 'DELIVERED'))::integer as delivered,
      (count(*) filter (where newest.status = 'DEAD'))::integer as dead
    from (
      select d.status
      from webhook_deliveries d
      where d.merchant_id = m.id
      order by d.created_at desc, d.id desc
      limit looked_at
    ) newest
  ) ended;
end
$$;

revoke execute on function count_recent_deliveries(uuid[], integer) from public;
grant execute on function count_recent_deliveries(uuid[], integer) to svc_runtime;
