-- Moves money between two accounts, or between an account and another bank (null), and books it on both: all of it or
-- nothing. The only writer of balances, transfers and transactions. A transfer is identified by its id: a repeat
-- changes nothing. `moment` dates it, but never before an earlier booking; null is now.
create or replace function book_transfer(
  transfer_id uuid, debtor uuid, creditor uuid, amount bigint, of_currency char(3), debtor_name text, creditor_name text,
  payment_reference text, moment timestamptz default null
) returns text
language plpgsql
security definer
set search_path = public, pg_temp
as $$
declare
  payer accounts;
  payee accounts;
  known transfers;
  booked timestamptz;
begin
  -- In the order of their ids, so that two transfers between the same accounts cannot deadlock.
  perform from accounts a where a.id in (debtor, creditor) order by a.id for no key update;
  select * into known from transfers t where t.id = transfer_id;
  if found then
    return case
      when (known.debtor_account_id, known.creditor_account_id, known.amount_minor, known.currency)
        is not distinct from (debtor, creditor, amount, of_currency) then 'REPEAT'
      else 'OTHER_TRANSFER'
    end;
  end if;
  select * into payer from accounts a where a.id = debtor;
  if debtor is not null then
    if not found then return 'DEBTOR_NOT_FOUND'; end if;
    if payer.status = 'Closed' then return 'DEBTOR_CLOSED'; end if;
    if payer.status = 'Blocked' then return 'DEBTOR_BLOCKED'; end if;
    if payer.currency <> of_currency then return 'DEBTOR_CURRENCY'; end if;
    -- Before any check of the other account: a payer without money must learn nothing about others' accounts.
    if payer.balance_minor - amount < -payer.overdraft_limit_minor then return 'INSUFFICIENT_FUNDS'; end if;
  end if;
  select * into payee from accounts a where a.id = creditor;
  if creditor is not null then
    if not found then return 'CREDITOR_NOT_FOUND'; end if;
    if payee.status = 'Closed' then return 'CREDITOR_CLOSED'; end if;
    if payee.currency <> of_currency then return 'CREDITOR_CURRENCY'; end if;
  end if;
  booked := greatest(coalesce(moment, clock_timestamp()), payer.last_booked_at, payee.last_booked_at);
  insert into transfers (id, debtor_account_id, creditor_account_id, amount_minor, currency, booked_at)
  values (transfer_id, debtor, creditor, amount, of_currency, booked);
  if debtor is not null then
    update accounts a
    set balance_minor = a.balance_minor - amount, transaction_count = a.transaction_count + 1, last_booked_at = booked
    where a.id = debtor
    returning * into payer;
    insert into transactions (
      account_id, number, transfer_id, amount_minor, credit_debit_indicator, booking_date_time, balance_minor,
      counterparty_name, reference
    )
    values (
      debtor, payer.transaction_count, transfer_id, amount, 'Debit', booked, payer.balance_minor, creditor_name,
      payment_reference
    );
  end if;
  if creditor is not null then
    update accounts a
    set balance_minor = a.balance_minor + amount, transaction_count = a.transaction_count + 1, last_booked_at = booked
    where a.id = creditor
    returning * into payee;
    insert into transactions (
      account_id, number, transfer_id, amount_minor, credit_debit_indicator, booking_date_time, balance_minor,
      counterparty_name, reference
    )
    values (
      creditor, payee.transaction_count, transfer_id, amount, 'Credit', booked, payee.balance_minor, debtor_name,
      payment_reference
    );
  end if;
  return 'BOOKED';
end
$$;

revoke execute on function book_transfer(uuid, uuid, uuid, bigint, char, text, text, text, timestamptz) from public;
grant execute on function book_transfer(uuid, uuid, uuid, bigint, char, text, text, text, timestamptz) to svc_runtime;
