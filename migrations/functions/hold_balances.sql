-- Sets aside what is payable to a merchant while an operator holds its payouts, and gives it back after the release. What
-- becomes payable meanwhile stays in merchant_payable, and is not paid out either. A trigger, so that no hold leaves money
-- where a payout could take it, and no release leaves it behind.
-- needs: functions/post_ledger
create or replace function hold_balances() returns trigger
language plpgsql
security definer
set search_path = public, pg_temp
as $$
declare
  of_currency text;
  amount numeric;
  posting ledger_posting;
begin
  for of_currency in
    select distinct b.currency from ledger_balances b where b.merchant_id = new.id order by b.currency
  loop
    -- What creates a payout of it takes its turn (payouts/create-sql.ts).
    perform pg_advisory_xact_lock(hashtextextended(format('payout %s %s', new.id, of_currency), 0));
    select b.balance into amount from ledger_balances b
    where b.merchant_id = new.id and b.currency = of_currency::bpchar
      and b.account = case when new.payout_held then 'merchant_payable'::ledger_account else 'held' end;
    posting := case when new.payout_held
      then row(new.id, 'balance_held', gen_random_uuid(), 'merchant_payable', 'held', amount, of_currency)::ledger_posting
      else row(new.id, 'balance_released', gen_random_uuid(), 'held', 'merchant_payable', amount, of_currency)::ledger_posting
    end;
    if amount > 0 then perform post_ledger(array[posting]); end if;
  end loop;
  return null;
end
$$;

create or replace trigger hold_balances after update of payout_held on merchants
  for each row when (old.payout_held is distinct from new.payout_held) execute function hold_balances();
