-- How the newest deliveries of some merchants have ended. The order is the index's, whatever the planner estimates for
-- a merchant: sorting would read the whole history of a merchant that has a long one. Each row is on a page of its own.
create or replace function count_recent_deliveries(merchants uuid[], looked_at integer)
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
      from webhook_log d
      where d.merchant_id = m.id
      order by d.created_at desc, d.id desc
      limit looked_at
    ) newest
  ) ended;
end
$$;

revoke execute on function count_recent_deliveries(uuid[], integer) from public;
grant execute on function count_recent_deliveries(uuid[], integer) to svc_runtime;
