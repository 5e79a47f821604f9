-- needs: functions/feed_is_ahead
-- After a restore, moves the positions of new events behind the old ones: cursors from before go on to work. Answers whether
-- there was anything to do. For the owner of the tables.
create or replace function continue_feed() returns boolean
language plpgsql
set search_path = public, pg_temp
as $$
declare
  newest bigint;
begin
  if not feed_is_ahead() then
    return false;
  end if;
  select feed_xid::text::bigint into newest from webhook_deliveries order by feed_xid desc, feed_ordinal desc limit 1;
  update feed_offset set added = newest;
  execute format(
    'alter table webhook_deliveries alter column feed_xid set default (pg_current_xact_id()::text::bigint + %s)::text::xid8',
    newest
  );
  return true;
end
$$;
