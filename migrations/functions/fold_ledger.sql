-- Adds entries to the kept balances, `rows_max` of them at most; returns their number. An entry is listed as unfolded or
-- in the kept balances at any moment, so the view ledger_balances does not change by it. What a settlement can have is
-- listed for the next one (0031_settlements.sql).
--
-- With a merchant, waits for entries that another process is adding: afterwards, everything that was posted for the
-- merchant before is in the kept balances.
create or replace function fold_ledger(rows_max integer, merchant uuid default null) returns integer
language plpgsql
security definer
set search_path = public, pg_temp
as $$
declare
  folded integer;
begin
  if merchant is not null then
    perform from ledger_unfolded u where u.merchant_id = merchant for update;
  end if;
  with taken as (
    delete from ledger_unfolded
    where ctid = any (array(
      select u.ctid from ledger_unfolded u
      where merchant is null or u.merchant_id = merchant
      limit rows_max
      for update skip locked
    ))
    returning ordinal
  ),
  -- Each with its time on the merchant's own clock, if a settlement can have it: the other movements of clearing are made
  -- by closing one.
  entry as materialized (
    select e.*, case
      when e.movement in ('payment_settled', 'fee_taken', 'payment_refunded', 'dispute_refunded', 'debt_deducted', 'debt_restored')
        or e.movement = 'correction' and 'clearing' in (e.debit, e.credit)
      then e.created_at + coalesce(
        (
          select sum(s.moved_by) from sandbox_clock_shifts s
          where s.subject_id = e.merchant_id and s.made_at <= e.created_at
        ),
        interval '0'
      )
    end as occurred_at
    from taken t
    join ledger_entries e on e.ordinal = t.ordinal
  ),
  line as (
    insert into settlement_lines (merchant_id, ordinal, currency, movement, subject_id, amount, occurred_at)
    select merchant_id, ordinal, currency, movement, subject_id, case when credit = 'clearing' then amount else -amount end,
      occurred_at
    from entry
    where occurred_at is not null
  ),
  kept as (
    insert into ledger_kept_balances as k (
      merchant_id, currency, bank, clearing, merchant_payable, held, payouts_in_transit, fees_earned, rounding,
      unsettled_since
    )
    select s.merchant_id, s.currency, sum(s.bank), sum(s.clearing), sum(s.merchant_payable), sum(s.held),
      sum(s.payouts_in_transit), sum(s.fees_earned), sum(s.rounding), min(e.occurred_at)
    from entry e
    join ledger_sides s on s.ordinal = e.ordinal
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
      unsettled_since = least(k.unsettled_since, excluded.unsettled_since),
      updated_at = now()
  )
  select count(*) into folded from taken;
  return folded;
end
$$;

revoke execute on function fold_ledger(integer, uuid) from public;
grant execute on function fold_ledger(integer, uuid) to svc_runtime;
