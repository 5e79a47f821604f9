-- needs: functions/feed_is_ahead, functions/feed_horizon
-- After a restore, moves the positions of new events behind all that were ever given out: cursors from before go on to work,
-- also of readers that had read past the back-up. Positions go on at the microseconds since 1970, which no server overtakes
-- with its transactions: the next restore, also of the same back-up, begins behind these as well. Without `is_restored` only
-- where the feed is ahead of this server. Answers whether there was anything to do. For the owner of the tables.
drop function if exists continue_feed();
create or replace function continue_feed(is_restored boolean) returns boolean
language plpgsql
set search_path = public, pg_temp
as $$
declare
  behind_all bigint;
begin
  if not is_restored and not feed_is_ahead() then
    return false;
  end if;
  -- The feed's own positions count where a clock was wrong.
  behind_all := greatest(
    (extract(epoch from clock_timestamp()) * 1000000)::bigint,
    (select feed_xid::text::bigint + 1 from webhook_deliveries order by feed_xid desc, feed_ordinal desc limit 1),
    feed_horizon()::text::bigint
  ) - pg_snapshot_xmin(pg_current_snapshot())::text::bigint;
  update feed_offset set added = behind_all;
  execute format(
    'alter table webhook_deliveries alter column feed_xid set default (pg_current_xact_id()::text::bigint + %s)::text::xid8',
    behind_all
  );
  return true;
end
$$;
