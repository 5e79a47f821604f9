-- Notifies consoles that a delivery has become DEAD, or is DEAD no longer: no event announces it. The channel is that
-- of notify_consoles, followed by the merchant. WHEN is evaluated before anything is queued, so that deliveries that
-- succeed or will be retried cost nothing; of many notifications for one merchant in a transaction PostgreSQL sends
-- one.
create or replace function notify_consoles_of_dead() returns trigger
language plpgsql
as $$
begin
  perform pg_notify('svc_wake', 'console:deliveries:' || new.merchant_id);
  return null;
end
$$;

create or replace trigger notify_consoles after update of status on webhook_deliveries
  for each row when (old.status is distinct from new.status and 'DEAD' in (old.status, new.status))
  execute function notify_consoles_of_dead();
