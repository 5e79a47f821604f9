-- Creates any number of payments in one statement, each with its consent, its audit event and its webhook, or returns
-- for each the reason why not. Set-based, because one commit for many payments is three times as fast as one for each;
-- the caller batches requests that arrive together (db/batcher.ts).
--
-- `outcome` is one of
--   CREATED
--   REPEAT                  the same key and body as before: returns that payment in its current state
--   KEY_REUSED              the same key with another body
--   LOST                    another transaction created it in the meantime: call again, with a new snapshot
--   CHECKOUT_OPEN           the checkout token already has an open payment, which is returned
--   CHECKOUT_ALREADY_PAID   the checkout token already has a paid payment, which is returned
--   CHECKOUT_ATTEMPTS_USED  the checkout token has had twenty payments
-- or the code of the rule that rejected the item. A repeat is answered before the gates (decision 14). The fee is
-- computed here and nowhere else, rounded half up to the column's scale (decision 33).
--
-- An item with `control_parameters` sets up a mandate. One with `under_mandate` belongs to an existing consent, whose
-- row the caller has locked (payments/mandates/create-payment-under-mandate.ts).
-- needs: functions/first_attempt_at, functions/iso_text, functions/money_text, functions/payment_envelope, functions/payment_refusal
create or replace function create_payments(items json) returns table (
  ord bigint, outcome text, payment_id uuid, status payment_status, end_to_end_id text, gross_amount text,
  fee_amount text, net_amount text, currency text, consent_id uuid, redirect_url text, expires_at text, created_at text
)
language plpgsql
security definer
set search_path = public, pg_temp
-- The plan is the same whatever the items. Making it for each call took a quarter of a batch, and most of a single payment.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  with item as (
    select i.*, i.ordinality as ord
    from json_populate_recordset(null::new_payment, items) with ordinality as i
  ),
  priced as (
    select i.*, round(i.amount * m.fee_percentage + m.fee_flat, 4) as fee, m.fee_percentage, m.fee_flat, m.webhook_url,
      existing.id as existing_id, existing.request_fingerprint as existing_fingerprint, taken.id as taken_id,
      case when m.id is null then 'MERCHANT_NOT_FOUND' else coalesce(payment_refusal(m, i.amount, i.currency), case
        when taken.status not in ('Initiated', 'AwaitingAuthorisation') then 'CHECKOUT_ALREADY_PAID'
        -- Checked before CHECKOUT_OPEN: an open payment must not be cancelled for one that can no longer be created.
        when tried.count >= 20 then 'CHECKOUT_ATTEMPTS_USED'
        when taken.id is not null then 'CHECKOUT_OPEN'
      end) end as refusal
    from item i
    left join merchants m on m.id = i.merchant_id
    -- Lateral, because each must be looked up by its key whatever the plan.
    left join lateral (
      select t.id, t.request_fingerprint
      from payment_intents t
      where t.merchant_id = i.merchant_id and t.idempotency_key = i.idempotency_key
      limit 1
    ) existing on true
    -- The first condition is inside as well, so that nothing is looked up for payments without a token, which most are. As
    -- text, the hash would be compared with those of all payments, without their index.
    left join lateral (
      select t.id, t.status
      from payment_intents t
      where i.checkout_token_hash is not null
        and t.merchant_id = i.merchant_id and t.checkout_token_hash = i.checkout_token_hash::char(64)
        and t.checkout_token_hash is not null and t.status <> 'Failed'
      limit 1
    ) taken on i.checkout_token_hash is not null
    left join lateral (
      select count(*) as count
      from (
        select from payment_intents t
        where i.checkout_token_hash is not null
          and t.merchant_id = i.merchant_id and t.checkout_token_hash = i.checkout_token_hash::char(64)
          and t.checkout_token_hash is not null
        limit 20
      ) tries
    ) tried on i.checkout_token_hash is not null
  ),
  intent as (
    insert into payment_intents (
      id, merchant_id, consent_id, idempotency_key, request_fingerprint, amount, gross_amount, fee_amount, net_amount,
      fee_percentage, fee_flat, currency, status, end_to_end_id, bank_consent_id, bank_connector,
      redirect_uri, redirect_url, metadata,
      webhook_sequence, checkout_token_hash, return_url, order_id, under_mandate, remittance_reference, sandbox_scenario,
      traceparent
    )
    select p.payment_id, p.merchant_id, p.consent_id, p.idempotency_key, p.request_fingerprint, p.amount, p.amount, p.fee,
      p.amount - p.fee, p.fee_percentage, p.fee_flat, p.currency, p.status::payment_status, p.end_to_end_id,
      p.bank_consent_id, p.bank_connector, p.redirect_uri, p.redirect_url, p.metadata, case when p.event_type is null then 0 else 1 end,
      p.checkout_token_hash, p.return_url, p.order_id, coalesce(p.under_mandate, false),
      case when p.under_mandate then p.remittance_reference end, case when p.under_mandate then p.sandbox_scenario end,
      p.traceparent
    from priced p
    where p.existing_id is null and p.refusal is null
    -- Every transaction takes the unique keys in the same order, so that two of them cannot deadlock. This covers the
    -- unique token as well: idempotency keys of its payments begin with its hash (checkout/start-payment.ts).
    order by p.merchant_id, p.idempotency_key
    -- A conflict by the key or by the checkout token: the caller repeats the call and finds the first payment.
    on conflict do nothing
    returning id, merchant_id, status
  ),
  consent as (
    insert into payment_consents (
      id, merchant_id, consent_type, status, bank_consent_reference, amount, currency, expires_at, payer_name,
      debtor_account_scheme, debtor_identification, remittance_reference, debtor_bank_id, payer_email_hash,
      payer_phone_hash,
      sandbox_scenario, control_parameters, valid_to
    )
    select p.consent_id, p.merchant_id, coalesce(p.consent_type, 'SINGLE_IMMEDIATE')::consent_type,
      'AWAITING_AUTHORISATION', p.bank_consent_reference, case when p.control_parameters is null then p.amount end,
      p.currency, now() + make_interval(secs => p.consent_seconds), p.payer_name,
      p.debtor_account_scheme::debtor_account_scheme, p.debtor_identification, p.remittance_reference,
      p.debtor_bank_id, p.payer_email_hash, p.payer_phone_hash, p.sandbox_scenario, p.control_parameters, p.valid_to
    from priced p
    join intent i on i.id = p.payment_id
    where p.under_mandate is not true
  ),
  event as (
    insert into payment_events (
      id, merchant_id, payment_intent_id, previous_status, new_status, changed_by, raw_payload,
      gross_amount, fee_amount, net_amount, currency
    )
    select p.audit_id, p.merchant_id, p.payment_id, null, i.status, p.changed_by, p.raw_payload::json,
      p.amount, p.fee, p.amount - p.fee, p.currency
    from priced p
    join intent i on i.id = p.payment_id
  ),
  delivery as (
    insert into webhook_deliveries (
      id, merchant_id, payment_intent_id, event_id, event_type, payload, next_retry_at, sequence, traceparent
    )
    select p.delivery_id, p.merchant_id, p.payment_id, p.event_id, p.event_type,
      payment_envelope(
        p.event_id, p.event_type, p.payment_id, p.end_to_end_id, p.consent_id, p.merchant_id, p.amount, p.fee,
        p.amount - p.fee, p.currency, i.status, null, p.debtor_bank_id, null, null, 1, p.test
      ),
      first_attempt_at(p.webhook_url), 1, p.traceparent
    from priced p
    join intent i on i.id = p.payment_id
    where p.event_type is not null
  )
  -- Rows created above are not visible to this statement's own reads, so they are returned from the items.
  select p.ord, 'CREATED', p.payment_id, i.status, p.end_to_end_id::text, money_text(p.amount), money_text(p.fee),
    money_text(p.amount - p.fee), p.currency::text, p.consent_id, p.redirect_url,
    iso_text(coalesce(mandate.expires_at, now() + make_interval(secs => p.consent_seconds))), iso_text(now())
  from priced p
  join intent i on i.id = p.payment_id
  left join lateral (
    select c.expires_at from payment_consents c
    where p.under_mandate and c.merchant_id = p.merchant_id and c.id = p.consent_id
    limit 1
  ) mandate on true
  union all
  select p.ord,
    case
      when p.existing_id is not null and p.existing_fingerprint <> p.request_fingerprint then 'KEY_REUSED'
      when p.existing_id is not null then 'REPEAT'
      else coalesce(p.refusal, 'LOST')
    end,
    e.id, e.status, e.end_to_end_id::text, money_text(e.gross_amount), money_text(e.fee_amount), money_text(e.net_amount),
    e.currency::text, e.consent_id, e.redirect_url, iso_text(c.expires_at), iso_text(e.created_at)
  from priced p
  -- Lateral, because it must be looked up by its key whatever the plan.
  left join lateral (
    select f.id, f.status, f.end_to_end_id, f.gross_amount, f.fee_amount, f.net_amount, f.currency, f.consent_id,
      f.redirect_url, f.created_at, f.merchant_id
    from payment_intents f
    where f.merchant_id = p.merchant_id and f.id = coalesce(p.existing_id, p.taken_id)
    limit 1
  ) e on true
  left join lateral (
    select f.expires_at from payment_consents f where f.merchant_id = e.merchant_id and f.id = e.consent_id limit 1
  ) c on true
  where not exists (select from intent i where i.id = p.payment_id);
end
$$;

revoke execute on function create_payments(json) from public;
grant execute on function create_payments(json) to svc_runtime;
