-- Chains the events of a dispute, so that an edit behind the triggers is detected.
-- needs: functions/dispute_event_hash
create or replace function seal_dispute_event() returns trigger
language plpgsql
as $$
begin
  -- Every move inserts or locks the dispute's row first, so its events are strictly one after the other.
  select event_hash into new.prev_hash
  from dispute_events
  where merchant_id = new.merchant_id and dispute_id = new.dispute_id
  order by ordinal desc
  limit 1;
  new.prev_hash := coalesce(new.prev_hash, repeat('0', 64));
  new.event_hash := dispute_event_hash(new);
  return new;
end
$$;

create or replace trigger seal before insert on dispute_events for each row execute function seal_dispute_event();
