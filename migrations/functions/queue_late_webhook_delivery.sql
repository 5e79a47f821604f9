-- A delivery without an endpoint may be inserted while another transaction sets one, which then does not see the row.
-- Setting an endpoint locks the merchant against the row's foreign key, and this function looks again after it has
-- waited for that lock: a statement of a volatile function has a snapshot of its own, and the key's trigger fires first
-- by its name. If there is still no endpoint, the delivery is put among those that wait for one; setting an endpoint
-- later waits for this transaction, and then sees its row.
create or replace function queue_late_webhook_delivery() returns trigger
language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  update webhook_deliveries d
  set next_retry_at = now()
  from merchants m
  where m.id = new.merchant_id and m.webhook_url is not null and d.merchant_id = new.merchant_id and d.id = new.id;
  if found then
    insert into webhook_queue (merchant_id, delivery_id, payment_intent_id, sequence, due_at)
    values (new.merchant_id, new.id, new.payment_intent_id, new.sequence, now());
  else
    insert into webhook_waiting (merchant_id, delivery_id, created_at) values (new.merchant_id, new.id, new.created_at);
  end if;
  return null;
end
$$;

create or replace trigger queue_late after insert on webhook_deliveries
  for each row when (new.status = 'PENDING' and new.next_retry_at = 'infinity') execute function queue_late_webhook_delivery();
