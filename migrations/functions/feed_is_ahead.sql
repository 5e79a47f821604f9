-- Whether the feed has positions that this server has not given out yet: the database was restored from another one.
create or replace function feed_is_ahead() returns boolean
language sql
stable
set search_path = public, pg_temp
as $$
  select exists (
    select from feed_offset, (select feed_xid from webhook_deliveries order by feed_xid desc, feed_ordinal desc limit 1) newest
    where feed_xid::text::bigint >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + added
  )
$$;
