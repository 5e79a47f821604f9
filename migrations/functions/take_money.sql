-- Moves an authorised payment's money and books the debit: both or neither. Repeats take turns and get the first
-- answer. One statement, because the payments of a merchant wait for its account one after the other, each until the
-- previous one commits. Returns BOOKED, DUPLICATE where the end-to-end id paid for another payment, or the reason that
-- book_transfer returned.
-- needs: functions/book_transfer
create or replace function mock_bank.take_money(
  of_state text, of_payment uuid, of_end_to_end_id text, gross numeric, gross_minor bigint, of_currency char(3),
  merchant_account uuid
) returns table (outcome text, reference text)
language plpgsql
set search_path = public, pg_temp
as $$
declare
  authorised mock_bank.authorisations;
  debit mock_bank.bank_debits;
begin
  select * into strict authorised from mock_bank.authorisations a where a.state = of_state for update;
  reference := authorised.bank_reference;
  select * into debit from mock_bank.bank_debits d where d.end_to_end_id = of_end_to_end_id;
  if found then
    outcome := case when debit.payment_id = of_payment then 'BOOKED' else 'DUPLICATE' end;
    return next;
    return;
  end if;
  select r.outcome into outcome from mock_bank.refusals r where r.id = of_payment;
  if found then
    return next;
    return;
  end if;
  outcome := 'BOOKED';
  if merchant_account is not null then
    outcome := book_transfer(
      of_payment, authorised.debtor_account_id, merchant_account, gross_minor, of_currency,
      (select a.name from accounts a where a.id = authorised.debtor_account_id), left(authorised.payee_name, 140),
      coalesce(authorised.remittance_reference, authorised.end_to_end_id)
    );
  end if;
  if outcome in ('BOOKED', 'REPEAT') then
    outcome := 'BOOKED';
    insert into mock_bank.bank_debits (
      end_to_end_id, payment_id, amount, currency, bank_reference, debtor_account_id, creditor_account_id
    )
    values (
      of_end_to_end_id, of_payment, gross, of_currency, authorised.bank_reference, authorised.debtor_account_id,
      merchant_account
    );
  elsif outcome <> 'OTHER_TRANSFER' then
    insert into mock_bank.refusals (id, outcome) values (of_payment, outcome);
  end if;
  return next;
end
$$;

revoke execute on function mock_bank.take_money(text, uuid, text, numeric, bigint, char, uuid) from public;
grant execute on function mock_bank.take_money(text, uuid, text, numeric, bigint, char, uuid) to svc_runtime;
