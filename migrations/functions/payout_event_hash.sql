-- The hash of one event: every column, and the hash of the event before it; concat_ws skips what only the first event
-- has. lib/audit-chain.ts computes the same.
create or replace function payout_event_hash(e payout_events) returns text
language sql stable
as $$
  select encode(sha256(convert_to(concat_ws('|',
    e.prev_hash, e.ordinal, e.id, e.merchant_id, e.payout_id, coalesce(e.previous_status::text, '-'), e.new_status,
    e.changed_by, to_char(e.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US'), e.bank_account_id, e.amount,
    e.currency
  ), 'UTF8')), 'hex')
$$;
