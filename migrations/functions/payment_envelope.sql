-- The envelope of a payment's webhook (contract §Webhook events; additions of decision 36). Built as text, because that
-- is the cheapest way and the stored bytes keep the order of the members.
-- needs: functions/iso_text, functions/money_text, functions/status_text
create or replace function payment_envelope(
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
