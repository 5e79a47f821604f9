-- Closes the open period of a merchant and currency: assigns its lines to a new settlement, and moves the settlement's
-- total to merchant_payable. Returns false where there is nothing to close: no lines, or the period has not ended, unless
-- it is ended now, by hand. Closers of one merchant take turns; payments do not wait for it.
--
-- A total below half a penny, and so also a debt, remains in clearing, and the next settlement opens with it.
-- needs: functions/post_ledger
create or replace function close_settlement(settlement uuid, merchant uuid, currency_code text, by_hand boolean)
returns boolean
language plpgsql
security definer
strict
set search_path = public, pg_temp
as $$
declare
  period open_settlements;
  total record;
  opening numeric;
  net numeric;
  payable numeric;
  rounding numeric;
begin
  perform pg_advisory_xact_lock(hashtextextended(format('settlement %s %s', merchant, currency_code), 0));
  select o.* into period from open_settlements o where o.merchant_id = merchant and o.currency = currency_code;
  if not found then return false; end if;
  if by_hand then
    -- The time of this statement: the transaction may have waited.
    period.period_to := period.merchant_time + (clock_timestamp() - now());
    period.settlement_schedule := 'MANUAL';
  elsif period.due_at > now() is not false then
    return false;
  end if;

  with taken as (
    update settlement_lines l
    set settlement_id = settlement
    where l.merchant_id = merchant and l.currency = currency_code and l.settlement_id is null
      and l.occurred_at < period.period_to
    returning l.movement, l.amount
  )
  select count(*) as lines,
    coalesce(sum(amount) filter (where movement = 'payment_settled'), 0) as gross,
    coalesce(-sum(amount) filter (where movement = 'fee_taken'), 0) as fees,
    coalesce(-sum(amount) filter (where movement in ('payment_refunded', 'dispute_refunded')), 0) as refunded,
    coalesce(sum(amount) filter (where movement = 'correction'), 0) as corrected
  into total
  from taken;
  if total.lines = 0 then return false; end if;

  select coalesce(sum(s.net_amount - s.payable_amount), 0) into opening
  from (
    select p.net_amount, p.payable_amount from settlements p
    where p.merchant_id = merchant and p.currency = currency_code
    order by p.period_to desc
    limit 1
  ) s;
  net := opening + total.gross - total.fees - total.refunded + total.corrected;
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
    corrected_amount, rounding_amount, net_amount, payable_amount, line_count, bank_account_id
  )
  values (
    settlement, merchant, currency_code, period.settlement_schedule, period.period_from, period.period_to, opening,
    total.gross, total.fees, total.refunded, total.corrected, rounding, net + rounding, payable,
    total.lines + abs(sign(rounding)),
    (
      select a.id from merchant_bank_accounts a
      where a.merchant_id = merchant and a.is_active
      order by a.created_at desc, a.id desc
      limit 1
    )
  );

  -- Locked first, so that the next statement sees lines that were added meanwhile.
  perform from ledger_kept_balances k where k.merchant_id = merchant and k.currency = currency_code for update;
  update ledger_kept_balances k
  set settled_until = period.period_to,
    unsettled_since = (
      select min(l.occurred_at) from settlement_lines l
      where l.merchant_id = merchant and l.currency = currency_code and l.settlement_id is null
    )
  where k.merchant_id = merchant and k.currency = currency_code;
  return true;
end
$$;

revoke execute on function close_settlement(uuid, uuid, text, boolean) from public;
grant execute on function close_settlement(uuid, uuid, text, boolean) to svc_runtime;
