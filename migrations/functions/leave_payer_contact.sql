-- Stores the contact that a payer enters on the receipt (decision 41). Returns
--   KEPT
--   KNOWN      a contact of either kind is already set, even the same one: otherwise the holder of a payment's
--              capability could find out by guessing what the merchant knows of its payer, or read along beside the payer
--   NOT_TAKEN  no checkout started the payment, or it is a mandate, which its payer may end
create or replace function leave_payer_contact(of_merchant uuid, payment uuid, email_hash text, phone_hash text) returns text
language sql
security definer
set search_path = public, pg_temp
as $$
  with asked as (
    select c.id, p.checkout_token_hash is not null and c.consent_type = 'SINGLE_IMMEDIATE' as is_taken
    from payment_intents p
    join payment_consents c on c.merchant_id = p.merchant_id and c.id = p.consent_id
    where p.merchant_id = of_merchant and p.id = payment
  ),
  kept as (
    update payment_consents c
    set payer_email_hash = email_hash, payer_phone_hash = phone_hash, updated_at = now()
    from asked
    where c.merchant_id = of_merchant and c.id = asked.id and asked.is_taken
      and c.payer_email_hash is null and c.payer_phone_hash is null
    returning c.id
  )
  select case
    when exists (select from kept) then 'KEPT'
    when exists (select from asked where is_taken) then 'KNOWN'
    else 'NOT_TAKEN'
  end
$$;

revoke execute on function leave_payer_contact(uuid, uuid, text, text) from public;
grant execute on function leave_payer_contact(uuid, uuid, text, text) to svc_runtime;
