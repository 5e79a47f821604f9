-- Moves the due times of customers. A request to pay has two sides, and moves once.
create or replace function advance_customer_clocks(customers uuid[], by interval) returns void
language plpgsql
set search_path = public, pg_temp
as $$
begin
  update recurring_payments
  set next_run_at = next_run_at - by, retry_at = retry_at - by, clock_ahead = clock_ahead + by
  where customer_id = any (customers) and next_run_at is not null;
  update payment_orders
  set locked_until = locked_until - by
  where customer_id = any (customers) and status in ('Pending', 'AcceptedSettlementInProcess') and locked_until is not null;
  update payment_requests
  set expires_at = expires_at - by
  where status = 'Sent' and (customer_id = any (customers) or counterparty_id = any (customers));
  -- Idempotency keys are valid for a day.
  update order_keys set created_at = created_at - by where customer_id = any (customers);
end
$$;

revoke execute on function advance_customer_clocks(uuid[], interval) from public;
