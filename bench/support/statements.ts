/**
 * The item of `create_payments` as the service sends it, written by PostgreSQL itself: by far the cheapest way, so that a
 * limit that is measured with it is a limit.
 */
function item(merchantId: string): string {
  // The space behind every colon is for pgbench, which would take a word there for a variable of its own.
  const constants = JSON.stringify({
    merchant_id: merchantId,
    event_type: 'payment.initiated',
    status: 'AwaitingAuthorisation',
    changed_by: 'MERCHANT_API',
    bank_connector: 'mock',
    amount: '50.0000',
    currency: 'GBP',
    redirect_uri: 'https://shop.example/return',
    redirect_url: 'https://bank.example/authorise?request=0123456789',
    request_fingerprint: '0'.repeat(64),
    raw_payload: '{"amount":"50.00","currency":"GBP","redirect_uri":"https://shop.example/return"}',
    consent_seconds: 5400,
    test: false,
  }).replaceAll('":', '": ')
  return `format(
    '${constants.slice(0, -1)}, "payment_id": "%s", "consent_id": "%s", "audit_id": "%s", "delivery_id": "%s", "event_id": "%s",' ||
    ' "end_to_end_id": "SVC%s", "bank_consent_id": "%s", "bank_consent_reference": "%s", "idempotency_key": "%s"}',
    uuidv7(), uuidv7(), uuidv7(), uuidv7(), gen_random_uuid(), replace(gen_random_uuid()::text, '-', ''),
    gen_random_uuid(), gen_random_uuid(), gen_random_uuid()
  )`
}

/** Creates `count` payments of one merchant in one statement. */
export function createStatement(merchantId: string, count: number): string {
  const items =
    count === 1
      ? `'[' || ${item(merchantId)} || ']'`
      : `'[' || (select string_agg(${item(merchantId)}, ',') from generate_series(1, ${count})) || ']'`
  return `select * from create_payments((${items})::json)`
}
