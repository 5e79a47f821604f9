-- Ends the mandates whose time is over, the earliest first, and returns their count.
create or replace function expire_mandates(rows_max integer) returns integer
language plpgsql
security definer
set search_path = public, pg_temp
as $$
declare
  ended integer;
begin
  update payment_consents c
  set status = 'EXPIRED', updated_at = now()
  from (
    select merchant_id, id
    from payment_consents
    where consent_type = 'VARIABLE_RECURRING' and status = 'AUTHORISED' and expires_at <= now()
    order by expires_at
    limit rows_max
    for update skip locked
  ) due
  where c.merchant_id = due.merchant_id and c.id = due.id;
  get diagnostics ended = row_count;
  return ended;
end
$$;

revoke execute on function expire_mandates(integer) from public;
grant execute on function expire_mandates(integer) to svc_runtime;
