-- The hash of one event: every column, and the hash of the event before it; concat_ws skips the amounts that only the
-- first event has. lib/audit-chain.ts computes the same.
create or replace function payment_event_hash(e payment_events) returns text
language sql stable
as $$
  select encode(sha256(convert_to(concat_ws('|',
    e.prev_hash, e.ordinal, e.id, e.merchant_id, e.payment_intent_id, coalesce(e.previous_status::text, '-'), e.new_status,
    e.changed_by, e.raw_payload_sha256, to_char(e.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US'),
    e.gross_amount, e.fee_amount, e.net_amount, e.currency
  ), 'UTF8')), 'hex')
$$;
