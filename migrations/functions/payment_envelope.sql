-- The envelope of a payment's webhook (contract §Webhook events; additions of decision 36). Built as text, because that
-- is the cheapest way and the stored bytes keep the order of the members; by concat, because format looks up how to write a
-- value wherever the type is another one than before.
-- needs: functions/iso_text, functions/money_text, functions/status_text
create or replace function payment_envelope(
  event_id text, event_type text, payment_id uuid, end_to_end_id text, consent_id uuid, merchant_id uuid,
  gross_amount numeric, fee_amount numeric, net_amount numeric, currency text, status payment_status,
  previous_status payment_status, provider_id text, failure text, refund text, sequence integer, test boolean
) returns json
language sql stable
as $$
  select concat(
    '{"eventId":"', event_id, '","eventType":"', event_type, '","apiVersion":"v1","createdAt":"', iso_text(now()),
    '","data":{"object":"transaction","id":"', payment_id, '","endToEndId":"', end_to_end_id,
    '","consentId":"', consent_id, '","merchantId":"', merchant_id, '","financials":{"grossAmount":"', money_text(gross_amount),
    '","feeAmount":"', money_text(fee_amount), '","netAmount":"', money_text(net_amount), '","currency":"', currency,
    '"},"status":"', status_text(status), '","previousStatus":', coalesce('"' || status_text(previous_status) || '"', 'null'),
    ',"bankDetails":{"providerId":', coalesce(to_json(provider_id)::text, 'null'), '},"failure":', coalesce(failure, 'null'),
    ',"sequence":', sequence, ',"refund":' || refund, case when test then ',"test":true' end, '}}'
  )::json
$$;
