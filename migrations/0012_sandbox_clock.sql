-- Time travel in the sandbox: a merchant's due times move into the past, while every statement goes on reading the real
-- clock. Nothing of it is in the way of production, and audit rows keep their real time.

-- What waits for a time, and when: deliveries, authorisations, settlements and refunds of one merchant.
create function sandbox_due_times(merchant uuid) returns table (due_at timestamptz)
language sql stable
set search_path = public, pg_temp
as $$
  select q.due_at from webhook_queue q where q.merchant_id = merchant
  union all
  select c.expires_at from payment_consents c where c.merchant_id = merchant and c.status = 'AWAITING_AUTHORISATION'
  union all
  select p.settle_at
  from payment_intents p
  where p.merchant_id = merchant and p.status = 'Authorised' and (p.locked_until is null or p.locked_until <= now())
  union all
  select r.resume_at from payment_refunds r where r.merchant_id = merchant and r.status = 'PENDING'
$$;

create function advance_sandbox_clock(merchant uuid, by interval) returns void
language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  update webhook_queue set due_at = due_at - by where merchant_id = merchant;
  update webhook_deliveries
  set next_retry_at = next_retry_at - by
  where merchant_id = merchant and status in ('PENDING', 'FAILED') and next_retry_at < 'infinity';
  update payment_consents set expires_at = expires_at - by where merchant_id = merchant and status = 'AWAITING_AUTHORISATION';
  update payment_intents
  set settle_at = settle_at - by, locked_until = locked_until - by
  where merchant_id = merchant and status = 'Authorised';
  update payment_refunds set resume_at = resume_at - by where merchant_id = merchant and status = 'PENDING';
end
$$;

revoke execute on function advance_sandbox_clock(uuid, interval) from public;
grant execute on function advance_sandbox_clock(uuid, interval) to svc_runtime;
