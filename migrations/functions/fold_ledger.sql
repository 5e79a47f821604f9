-- Adds changes of balances to the kept balances, `rows_max` of them at most; returns their number. Each change is in
-- the one table or in the other at any moment, so the view ledger_balances does not change by it.
create or replace function fold_ledger(rows_max integer) returns integer
language plpgsql
security definer
set search_path = public, pg_temp
as $$
declare
  folded integer;
begin
  with taken as (
    delete from ledger_balance_changes
    where ctid = any (array(select c.ctid from ledger_balance_changes c limit rows_max for update skip locked))
    returning *
  ),
  kept as (
    insert into ledger_kept_balances as k (
      merchant_id, currency, bank, clearing, merchant_payable, held, payouts_in_transit, fees_earned, rounding
    )
    select merchant_id, currency, sum(bank), sum(clearing), sum(merchant_payable), sum(held), sum(payouts_in_transit),
      sum(fees_earned), sum(rounding)
    from taken
    group by merchant_id, currency
    -- In one order, so that two processes cannot deadlock.
    order by merchant_id, currency
    on conflict (merchant_id, currency) do update
    set bank = k.bank + excluded.bank,
      clearing = k.clearing + excluded.clearing,
      merchant_payable = k.merchant_payable + excluded.merchant_payable,
      held = k.held + excluded.held,
      payouts_in_transit = k.payouts_in_transit + excluded.payouts_in_transit,
      fees_earned = k.fees_earned + excluded.fees_earned,
      rounding = k.rounding + excluded.rounding,
      updated_at = now()
  )
  select count(*) into folded from taken;
  return folded;
end
$$;

revoke execute on function fold_ledger(integer) from public;
grant execute on function fold_ledger(integer) to svc_runtime;
