-- Chains the events of a refund, so that an edit behind the triggers is detected, and keeps them on one path.
-- needs: functions/refund_event_hash
create or replace function seal_refund_event() returns trigger
language plpgsql
as $$
declare
  last_status refund_status;
begin
  -- The row lock on the refund makes its events strictly one after the other.
  select event_hash, new_status into new.prev_hash, last_status
  from refund_events
  where merchant_id = new.merchant_id and refund_id = new.refund_id
  order by ordinal desc
  limit 1;
  if last_status is distinct from new.previous_status then
    raise exception 'refund % can''t move from %: its last event says %', new.refund_id,
      coalesce(new.previous_status::text, 'nothing'), coalesce(last_status::text, 'nothing')
      using errcode = 'check_violation';
  end if;
  new.prev_hash := coalesce(new.prev_hash, repeat('0', 64));
  new.event_hash := refund_event_hash(new);
  return new;
end
$$;

create or replace trigger seal before insert on refund_events for each row execute function seal_refund_event();
