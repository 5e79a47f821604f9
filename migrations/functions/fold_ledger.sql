-- Adds entries to the kept balances, `rows_max` of them at most; returns their number. An entry is listed as unfolded or
-- in the kept balances at any moment, so the view ledger_balances does not change by it.
create or replace function fold_ledger(rows_max integer) returns integer
language plpgsql
security definer
set search_path = public, pg_temp
as $$
declare
  folded integer;
begin
  with taken as (
    delete from ledger_unfolded
    where ctid = any (array(select u.ctid from ledger_unfolded u limit rows_max for update skip locked))
    returning ordinal
  ),
  kept as (
    insert into ledger_kept_balances as k (
      merchant_id, currency, bank, clearing, merchant_payable, held, payouts_in_transit, fees_earned, rounding
    )
    select s.merchant_id, s.currency, sum(s.bank), sum(s.clearing), sum(s.merchant_payable), sum(s.held),
      sum(s.payouts_in_transit), sum(s.fees_earned), sum(s.rounding)
    from taken t
    join ledger_sides s on s.ordinal = t.ordinal
    group by s.merchant_id, s.currency
    -- In one order, so that two processes cannot deadlock.
    order by s.merchant_id, s.currency
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
