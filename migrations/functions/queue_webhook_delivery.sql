-- Schedules every delivery as it is inserted, so that none can be recorded and then forgotten. Acts with the owner's
-- rights, because deliveries are also inserted by functions that do.
create or replace function queue_webhook_delivery() returns trigger
language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  insert into webhook_queue (merchant_id, delivery_id, payment_intent_id, sequence, due_at)
  values (new.merchant_id, new.id, new.payment_intent_id, new.sequence, new.next_retry_at);
  return null;
end
$$;

create or replace trigger queue after insert on webhook_deliveries
  for each row when (new.status = 'PENDING' and new.next_retry_at < 'infinity') execute function queue_webhook_delivery();
