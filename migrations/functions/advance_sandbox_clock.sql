-- Advances the clock of a merchant, if one is given, and of customers, all of them in one step.
-- needs: functions/advance_customer_clocks, functions/advance_merchant_clock
create or replace function advance_sandbox_clock(merchant uuid, customers uuid[], by interval) returns void
language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  if merchant is not null then
    perform advance_merchant_clock(merchant, by);
  end if;
  perform advance_customer_clocks(customers, by);
  -- The real time: after every row moved above, and before the next row that is created.
  insert into sandbox_clock_shifts (subject_id, made_at, moved_by)
  select subject, clock_timestamp(), by
  from (select distinct unnest(customers || merchant) as subject) s
  where subject is not null
  on conflict (subject_id, made_at) do update set moved_by = sandbox_clock_shifts.moved_by + excluded.moved_by;
end
$$;

revoke execute on function advance_sandbox_clock(uuid, uuid[], interval) from public;
grant execute on function advance_sandbox_clock(uuid, uuid[], interval) to svc_runtime;
