-- Chains the events of a payment, so that an edit behind the triggers is detected.
-- needs: functions/payment_event_hash
create or replace function seal_payment_event() returns trigger
language plpgsql
as $$
begin
  new.raw_payload_sha256 := encode(sha256(convert_to(new.raw_payload::text, 'UTF8')), 'hex');
  new.prev_hash := repeat('0', 64);
  if new.previous_status is not null then
    -- The row lock on the payment makes its events strictly one after the other.
    select event_hash into strict new.prev_hash
    from payment_events
    where merchant_id = new.merchant_id and payment_intent_id = new.payment_intent_id
    order by ordinal desc
    limit 1;
  end if;
  new.event_hash := payment_event_hash(new);
  return new;
end
$$;

create or replace trigger seal before insert on payment_events for each row execute function seal_payment_event();
