-- Chains the events of a payout, so that an edit behind the triggers is detected, and keeps them on one path.
-- needs: functions/payout_event_hash
create or replace function seal_payout_event() returns trigger
language plpgsql
as $$
declare
  last_status payout_status;
begin
  -- The row lock on the payout makes its events strictly one after the other.
  select event_hash, new_status into new.prev_hash, last_status
  from payout_events
  where merchant_id = new.merchant_id and payout_id = new.payout_id
  order by ordinal desc
  limit 1;
  if last_status is distinct from new.previous_status then
    raise exception 'payout % can''t move from %: its last event says %', new.payout_id,
      coalesce(new.previous_status::text, 'nothing'), coalesce(last_status::text, 'nothing')
      using errcode = 'check_violation';
  end if;
  new.prev_hash := coalesce(new.prev_hash, repeat('0', 64));
  new.event_hash := payout_event_hash(new);
  return new;
end
$$;

create or replace trigger seal before insert on payout_events for each row execute function seal_payout_event();
