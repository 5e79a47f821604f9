-- Chains the events of a payment, so that an edit behind the triggers is detected, and keeps them on one path: each event
-- starts at the status that another one reached. The index payment_events__path allows one event from each status and one
-- first event, so that the one it starts from is always the last. A payment whose status was set back by hand can't move.
-- needs: functions/payment_event_hash
create or replace function seal_payment_event() returns trigger
language plpgsql
as $$
begin
  new.raw_payload_sha256 := encode(sha256(convert_to(new.raw_payload::text, 'UTF8')), 'hex');
  if new.previous_status is null then
    new.prev_hash := repeat('0', 64);
  else
    -- The row lock on the payment makes its events strictly one after the other.
    select event_hash into new.prev_hash
    from payment_events
    where merchant_id = new.merchant_id and payment_intent_id = new.payment_intent_id and new_status = new.previous_status;
    if not found then
      raise exception 'payment % can''t move from %: no event of it says so', new.payment_intent_id, new.previous_status
        using errcode = 'check_violation';
    end if;
  end if;
  new.event_hash := payment_event_hash(new);
  return new;
end
$$;

create or replace trigger seal before insert on payment_events for each row execute function seal_payment_event();
