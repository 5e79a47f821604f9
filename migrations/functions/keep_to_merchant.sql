-- Shows a table's rows to a request of a merchant only where `visible` holds, and lets it write those where `written` does
-- (0037_merchant_scope.sql). Migrations call it for each new table. Operators and jobs act as svc_runtime, which no policy
-- limits: `true` is gone when a statement is planned. `{merchant}` is the transaction's merchant (src/db/scoped-query.ts).
create or replace function keep_to_merchant(
  kept regclass, visible text default 'merchant_id = {merchant}', written text default null
) returns void
language plpgsql
as $$
declare
  -- Not a function: the server would parse its text again for each statement that it plans.
  merchant constant text := $text$nullif(current_setting('svc.merchant_id', true), '')::uuid$text$;
begin
  execute format('alter table %s enable row level security', kept);
  execute format('create policy every_merchant on %s to svc_runtime using (true)', kept);
  execute format(
    'create policy one_merchant on %s as restrictive to svc_merchant using (%s) with check (%s)',
    kept, replace(visible, '{merchant}', merchant), replace(coalesce(written, visible), '{merchant}', merchant)
  );
end
$$;

revoke execute on function keep_to_merchant from public;
