-- Chains the events of a dispute, so that an edit behind the triggers is detected, keeps them on one path, and seals with
-- the first what is disputed.
-- needs: functions/dispute_event_hash
create or replace function seal_dispute_event() returns trigger
language plpgsql
as $$
declare
  last_status dispute_status;
begin
  -- Every move inserts or locks the dispute's row first, so its events are strictly one after the other.
  select event_hash, new_status into new.prev_hash, last_status
  from dispute_events
  where merchant_id = new.merchant_id and dispute_id = new.dispute_id
  order by ordinal desc
  limit 1;
  if last_status is distinct from new.previous_status then
    raise exception 'dispute % can''t move from %: its last event says %', new.dispute_id,
      coalesce(new.previous_status::text, 'nothing'), coalesce(last_status::text, 'nothing')
      using errcode = 'check_violation';
  end if;
  if new.previous_status is null then
    select p.id, p.gross_amount, p.currency into new.payment_intent_id, new.gross_amount, new.currency
    from disputes d
    join payment_intents p on p.merchant_id = d.merchant_id and p.id = d.payment_intent_id
    where d.merchant_id = new.merchant_id and d.id = new.dispute_id;
  end if;
  new.prev_hash := coalesce(new.prev_hash, repeat('0', 64));
  new.event_hash := dispute_event_hash(new);
  return new;
end
$$;

create or replace trigger seal before insert on dispute_events for each row execute function seal_dispute_event();
