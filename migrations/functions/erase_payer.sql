-- Makes the consents of a contact anonymous (decision 371), but for those that are still open. Contact and name go. The
-- account number goes where no money moved; elsewhere it is part of the record of the payment, which law keeps, and stays
-- sealed: refunds go back to it. `payments` are those of the consents: receipts of them may have been mailed.
-- What it returns has changed, which `or replace` can't do.
drop function if exists erase_payer(payer_contact_type, text);
create or replace function erase_payer(kind payer_contact_type, hash text)
returns table (consents integer, accounts integer, open_consents integer, payments uuid[])
language sql
security definer
set search_path = public, pg_temp
as $$
  with known as materialized (
    select c.merchant_id, c.id, c.debtor_identification is not null as has_account,
      c.status = 'AWAITING_AUTHORISATION' or c.consent_type = 'VARIABLE_RECURRING' and c.status = 'AUTHORISED' as is_open,
      not exists (
        select from payment_intents p
        where p.merchant_id = c.merchant_id and p.consent_id = c.id and p.status <> 'Failed'
      ) as moved_nothing
    from payment_consents c
    -- Each column by its index: as text, the hash would be compared with every row of all payers.
    where kind = 'EMAIL' and c.payer_email_hash = hash::char(64) or kind = 'PHONE' and c.payer_phone_hash = hash::char(64)
    order by c.merchant_id, c.id
    for update
  ),
  erased as (
    update payment_consents c
    set payer_email_hash = null, payer_phone_hash = null, payer_name = null, updated_at = now(),
      debtor_identification = case when not k.moved_nothing then c.debtor_identification end,
      debtor_account_scheme = case when not k.moved_nothing then c.debtor_account_scheme end
    from known k
    where c.merchant_id = k.merchant_id and c.id = k.id and not k.is_open
    returning c.merchant_id, c.id, k.has_account and k.moved_nothing as lost_account
  )
  select (select count(*) from erased)::integer, (select count(*) from erased where lost_account)::integer,
    (select count(*) from known where is_open)::integer,
    array(
      select p.id from erased e join payment_intents p on p.merchant_id = e.merchant_id and p.consent_id = e.id
    )
$$;

revoke execute on function erase_payer(payer_contact_type, text) from public;
grant execute on function erase_payer(payer_contact_type, text) to svc_runtime;
