-- Writes an event for each new refund, with what is refunded, and for each move of its status. A trigger, because the
-- runtime role may write refunds and must not be able to write their history.
-- needs: functions/seal_refund_event
create or replace function record_refund_event() returns trigger
language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  if tg_op = 'INSERT' then
    insert into refund_events (id, merchant_id, refund_id, new_status, prev_hash, event_hash, payment_intent_id, amount, currency)
    select gen_random_uuid(), new.merchant_id, new.id, new.status, '', '', new.payment_intent_id, new.amount, p.currency
    from payment_intents p
    where p.merchant_id = new.merchant_id and p.id = new.payment_intent_id;
  else
    insert into refund_events (id, merchant_id, refund_id, previous_status, new_status, prev_hash, event_hash)
    values (gen_random_uuid(), new.merchant_id, new.id, old.status, new.status, '', '');
  end if;
  return null;
end
$$;

create or replace trigger record_created after insert on payment_refunds
  for each row execute function record_refund_event();
create or replace trigger record_move after update of status on payment_refunds
  for each row when (old.status is distinct from new.status) execute function record_refund_event();
