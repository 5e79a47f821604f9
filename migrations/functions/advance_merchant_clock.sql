-- Moves the due times of a merchant. A payer's links move only if no other merchant knows the payer, so that no other
-- merchant's time moves.
create or replace function advance_merchant_clock(merchant uuid, by interval) returns void
language plpgsql
set search_path = public, pg_temp
as $$
begin
  update webhook_queue set due_at = due_at - by where merchant_id = merchant;
  -- Through the queue: it has exactly the deliveries with a due time, few beside the history.
  update webhook_deliveries d
  set next_retry_at = d.next_retry_at - by
  from webhook_queue q
  where q.merchant_id = merchant and d.merchant_id = q.merchant_id and d.id = q.delivery_id;
  -- The bank's own expiry of a mandate moves with ours.
  update mock_bank.authorisations a
  set mandate_valid_to = a.mandate_valid_to - by
  from payment_consents c
  where c.merchant_id = merchant and c.status = 'AUTHORISED' and c.consent_type = 'VARIABLE_RECURRING'
    and a.consent_reference = c.bank_consent_reference and a.mandate_valid_to is not null;
  update payment_consents
  set expires_at = expires_at - by, valid_to = valid_to - by
  where merchant_id = merchant
    and (status = 'AWAITING_AUTHORISATION' or status = 'AUTHORISED' and consent_type = 'VARIABLE_RECURRING');
  update payment_consents
  set revocation_due_at = revocation_due_at - by
  where merchant_id = merchant and revocation_due_at is not null;
  update payment_intents
  set settle_at = settle_at - by, locked_until = locked_until - by
  where merchant_id = merchant
    and (status = 'Authorised' or under_mandate and status in ('Initiated', 'AwaitingAuthorisation'));
  update payment_refunds set resume_at = resume_at - by where merchant_id = merchant and status = 'PENDING';
  update payouts
  set next_attempt_at = next_attempt_at - by, locked_until = locked_until - by, retry_at = retry_at - by
  where merchant_id = merchant and (status in ('CREATED', 'SENT') or retry_at > now());
  update disputes set evidence_due_at = evidence_due_at - by where merchant_id = merchant and status = 'OPEN';
  -- A rotated secret expires in the merchant's own time, and planned replays have moved with the queue.
  update merchants
  set webhook_secret_previous_expires_at = webhook_secret_previous_expires_at - by,
    webhook_replays_until = webhook_replays_until - by
  where id = merchant and (webhook_secret_previous_expires_at is not null or webhook_replays_until is not null);
  -- Links of a payer, used ones too, because limits count them by the hour and by the day.
  update payer_tokens t
  set created_at = t.created_at - by, expires_at = t.expires_at - by, used_at = t.used_at - by
  where t.expires_at > now() - interval '1 day'
    and exists (
      select from payment_consents c
      where c.merchant_id = merchant
        and case t.contact_type when 'EMAIL' then c.payer_email_hash else c.payer_phone_hash end = t.contact_hash
    )
    and not exists (
      select from payment_consents c
      where c.merchant_id <> merchant and t.contact_type = 'EMAIL' and c.payer_email_hash = t.contact_hash
    )
    and not exists (
      select from payment_consents c
      where c.merchant_id <> merchant and t.contact_type = 'PHONE' and c.payer_phone_hash = t.contact_hash
    );
end
$$;

revoke execute on function advance_merchant_clock(uuid, interval) from public;
