-- The hash of one action: every column, and the hash of the action before it. lib/audit-chain.ts computes the same.
create or replace function operator_action_hash(a operator_actions) returns text
language sql stable
as $$
  select encode(sha256(convert_to(concat_ws('|',
    a.prev_hash, a.ordinal, a.id, to_json(a.actor_id), to_json(a.actor_name), a.actor_role, a.action,
    coalesce(a.merchant_id::text, '-'), to_json(a.subject_id), coalesce(to_json(a.reason)::text, '-'),
    coalesce(a.before::text, '-'), coalesce(a.after::text, '-'),
    to_char(a.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US')
  ), 'UTF8')), 'hex')
$$;
