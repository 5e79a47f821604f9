-- The hash of one event: every column, and the hash of the event before it. lib/audit-chain.ts computes the same.
create or replace function payment_event_hash(e payment_events) returns text
language sql stable
as $$
  select encode(sha256(convert_to(concat_ws('|',
    e.prev_hash, e.ordinal, e.id, e.merchant_id, e.payment_intent_id, coalesce(e.previous_status::text, '-'), e.new_status,
    e.changed_by, e.raw_payload_sha256, to_char(e.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US')
  ), 'UTF8')), 'hex')
$$;
