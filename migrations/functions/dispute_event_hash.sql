-- The hash of one event: every column, and the hash of the event before it; concat_ws skips what only the first event
-- has. lib/audit-chain.ts computes the same.
create or replace function dispute_event_hash(e dispute_events) returns text
language sql stable
as $$
  select encode(sha256(convert_to(concat_ws('|',
    e.prev_hash, e.ordinal, e.id, e.merchant_id, e.dispute_id, coalesce(e.previous_status::text, '-'), e.new_status,
    to_json(e.event), e.changed_by, coalesce(to_json(e.actor_id)::text, '-'), coalesce(to_json(e.actor_name)::text, '-'),
    coalesce(to_json(e.note)::text, '-'), to_char(e.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US'),
    e.payment_intent_id, e.gross_amount, e.currency
  ), 'UTF8')), 'hex')
$$;
