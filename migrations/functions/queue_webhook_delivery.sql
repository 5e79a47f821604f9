-- Schedules every delivery as it is inserted, so that none can be recorded and then forgotten. Once per statement, because
-- payments and their deliveries are inserted many at a time. Acts with the owner's rights, because deliveries are also
-- inserted by functions that do.
create or replace function queue_webhook_delivery() returns trigger
language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  insert into webhook_queue (merchant_id, delivery_id, payment_intent_id, sequence, due_at)
  select d.merchant_id, d.id, d.payment_intent_id, d.sequence, d.next_retry_at
  from inserted d
  where d.status = 'PENDING' and d.next_retry_at < 'infinity';
  return null;
end
$$;

create or replace trigger queue after insert on webhook_deliveries
  referencing new table as inserted for each statement execute function queue_webhook_delivery();
