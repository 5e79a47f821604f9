-- Closes the open period of a merchant and currency: assigns its lines to a new settlement, and moves the settlement's
-- total to merchant_payable. The period must have ended, unless it is ended now, by hand. Who closes by hand
-- waits for another closer; payments wait for none.
--
-- A call assigns and adds up `lines_max` lines at most, so that no statement is long. While there are more, `more_from` is
-- not null, and the caller calls again with it, in the same transaction. With `is_closed` false there was nothing to close.
--
-- A total below half a penny, and so also a debt, remains in clearing, and the next settlement opens with it.
-- needs: functions/post_ledger
create or replace function close_settlement(
  settlement uuid, merchant uuid, currency_code text, by_hand boolean, lines_max integer, lines_from timestamptz,
  out is_closed boolean, out more_from timestamptz
)
language plpgsql
security definer
strict
set search_path = public, pg_temp
-- Lines come from their indexes in order, also while there are no statistics: sorting those that are left for each call
-- would take longer the more there are.
set enable_sort = off
set enable_bitmapscan = off
as $$
declare
  period open_settlements;
  total settlement_sums;
  opening numeric;
  net numeric;
  payable numeric;
  rounding numeric;
begin
  is_closed := false;
  if by_hand then
    perform pg_advisory_xact_lock(hashtextextended(format('settlement %s %s', merchant, currency_code), 0));
  elsif not pg_try_advisory_xact_lock(hashtextextended(format('settlement %s %s', merchant, currency_code), 0)) then
    return;
  end if;
  select o.* into period from open_settlements o where o.merchant_id = merchant and o.currency = currency_code::bpchar;
  if not found then return; end if;
  if by_hand then
    period.period_to := period.merchant_time;
    period.settlement_schedule := 'MANUAL';
    -- Another one has just closed it.
    if period.period_to <= period.period_from then return; end if;
  elsif period.due_at > now() is not false then
    return;
  end if;

  with line as (
    select l.ctid, l.occurred_at from settlement_lines l
    where l.merchant_id = merchant and l.currency = currency_code::bpchar and l.settlement_id is null
      and l.occurred_at >= lines_from and l.occurred_at < period.period_to
    order by l.occurred_at
    limit lines_max
  ),
  taken as (
    update settlement_lines l
    set settlement_id = settlement
    where l.ctid = any (array(select line.ctid from line))
    returning l.occurred_at, l.movement, l.amount
  ),
  part as (
    insert into settlement_sums as s (
      merchant_id, settlement_id, line_count, gross_amount, fee_amount, refunded_amount, corrected_amount, deducted_amount
    )
    select merchant, settlement, count(*),
      coalesce(sum(t.amount) filter (where t.movement = 'payment_settled'), 0),
      coalesce(-sum(t.amount) filter (where t.movement = 'fee_taken'), 0),
      coalesce(-sum(t.amount) filter (where t.movement in ('payment_refunded', 'dispute_refunded')), 0),
      coalesce(sum(t.amount) filter (where t.movement = 'correction'), 0),
      coalesce(sum(t.amount) filter (where t.movement in ('debt_deducted', 'debt_restored')), 0)
    from taken t
    on conflict (merchant_id, settlement_id) do update
    set line_count = s.line_count + excluded.line_count,
      gross_amount = s.gross_amount + excluded.gross_amount,
      fee_amount = s.fee_amount + excluded.fee_amount,
      refunded_amount = s.refunded_amount + excluded.refunded_amount,
      corrected_amount = s.corrected_amount + excluded.corrected_amount,
      deducted_amount = s.deducted_amount + excluded.deducted_amount
  )
  select max(t.occurred_at) into more_from from taken t having count(*) = lines_max;
  if more_from is not null then return; end if;

  delete from settlement_sums s where s.merchant_id = merchant and s.settlement_id = settlement returning * into total;
  if total.line_count = 0 then return; end if;

  select coalesce(sum(s.net_amount - s.payable_amount), 0) into opening
  from (
    select p.net_amount, p.payable_amount from settlements p
    where p.merchant_id = merchant and p.currency = currency_code::bpchar
    order by p.period_to desc
    limit 1
  ) s;
  net := opening + total.gross_amount - total.fee_amount - total.refunded_amount + total.corrected_amount
    + total.deducted_amount;
  payable := greatest(round(net, 2), 0);
  rounding := case when payable > 0 then payable - net else 0 end;

  perform post_ledger(array(
    select p.posting
    from (
      values (rounding, row(merchant, 'rounded_up', settlement, 'rounding', 'clearing', rounding, currency_code)::ledger_posting),
        (-rounding, row(merchant, 'rounded_down', settlement, 'clearing', 'rounding', -rounding, currency_code)::ledger_posting),
        (payable, row(merchant, 'settlement_closed', settlement, 'clearing', 'merchant_payable', payable, currency_code)::ledger_posting)
    ) p (amount, posting)
    where p.amount > 0
  ));
  insert into settlement_lines (merchant_id, ordinal, currency, movement, subject_id, amount, occurred_at, settlement_id)
  select e.merchant_id, e.ordinal, e.currency, e.movement, e.subject_id, rounding, period.period_to, settlement
  from ledger_entries e
  where e.merchant_id = merchant and e.subject_id = settlement and e.movement in ('rounded_up', 'rounded_down');

  insert into settlements (
    id, merchant_id, currency, kind, period_from, period_to, opening_balance, gross_amount, fee_amount, refunded_amount,
    corrected_amount, deducted_amount, rounding_amount, net_amount, payable_amount, line_count, bank_account_id
  )
  values (
    settlement, merchant, currency_code, period.settlement_schedule, period.period_from, period.period_to, opening,
    total.gross_amount, total.fee_amount, total.refunded_amount, total.corrected_amount, total.deducted_amount, rounding,
    net + rounding, payable, total.line_count + abs(sign(rounding)),
    (
      select a.id from merchant_bank_accounts a
      where a.merchant_id = merchant and a.is_active and (currency_code = 'GBP' or a.encrypted_iban is not null)
      order by a.created_at desc, a.id desc
      limit 1
    )
  );

  -- Locked first, so that the next statement sees lines that were added meanwhile.
  perform from ledger_kept_balances k where k.merchant_id = merchant and k.currency = currency_code::bpchar for update;
  update ledger_kept_balances k
  set settled_until = period.period_to,
    unsettled_since = (
      select min(l.occurred_at) from settlement_lines l
      where l.merchant_id = merchant and l.currency = currency_code::bpchar and l.settlement_id is null
    )
  where k.merchant_id = merchant and k.currency = currency_code::bpchar;
  is_closed := true;
end
$$;

revoke execute on function close_settlement(uuid, uuid, text, boolean, integer, timestamptz) from public;
grant execute on function close_settlement(uuid, uuid, text, boolean, integer, timestamptz) to svc_runtime;
