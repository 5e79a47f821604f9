-- The first position of the event feed at which a running transaction can still write: readers stop before it.
create or replace function feed_horizon() returns xid8
language sql
stable
set search_path = public, pg_temp
as $$
  select (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + added)::text::xid8 from feed_offset
$$;
