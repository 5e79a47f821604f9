-- How money, times and a payment's webhook are written. One place for all of them, because the bytes that are stored
-- here are the bytes that merchants verify.

-- The currency's two digits, and more (up to four) only where they are not zero (decision 50). lib/money.ts writes the
-- same; a test holds one against the other.
create function money_text(amount numeric) returns text
language sql immutable
as $$ select round(amount, greatest(2, least(4, min_scale(amount))))::text $$;

create function iso_text(at timestamptz) returns text
language sql stable strict
as $$ select to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') $$;

-- 'AwaitingAuthorisation' is 'AWAITING_AUTHORISATION' in webhooks (decision 55).
create function status_text(status payment_status) returns text
language sql immutable strict
as $$ select upper(regexp_replace(status::text, '([a-z])([A-Z])', '\1_\2', 'g')) $$;

-- The envelope of a payment's webhook (specification, Webhook events; additions of decision 36). Built as text: it is
-- the cheapest way, and what is stored keeps the order of its members.
create function payment_envelope(
  event_id text, event_type text, payment_id uuid, end_to_end_id text, consent_id uuid, merchant_id uuid,
  gross_amount numeric, fee_amount numeric, net_amount numeric, currency text, status payment_status,
  previous_status payment_status, provider_id text, failure text, refund text, sequence integer, test boolean
) returns json
language sql stable
as $$
  select format(
    '{"eventId":"%s","eventType":"%s","apiVersion":"v1","createdAt":"%s","data":{"object":"transaction","id":"%s",'
    '"endToEndId":"%s","consentId":"%s","merchantId":"%s","financials":{"grossAmount":"%s","feeAmount":"%s",'
    '"netAmount":"%s","currency":"%s"},"status":"%s","previousStatus":%s,"bankDetails":{"providerId":%s},'
    '"failure":%s,"sequence":%s%s%s}}',
    event_id, event_type, iso_text(now()), payment_id, end_to_end_id, consent_id, merchant_id,
    money_text(gross_amount), money_text(fee_amount), money_text(net_amount), currency, status_text(status),
    coalesce('"' || status_text(previous_status) || '"', 'null'), coalesce(to_json(provider_id)::text, 'null'),
    coalesce(failure, 'null'), sequence,
    coalesce(',"refund":' || refund, ''), case when test then ',"test":true' else '' end
  )::json
$$;

-- When a new delivery is due: at once, or never while the merchant has no endpoint (decision 38).
create function first_attempt_at(webhook_url text) returns timestamptz
language sql stable
as $$ select case when webhook_url is null then 'infinity'::timestamptz else now() end $$;
