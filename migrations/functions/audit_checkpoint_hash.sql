-- The hash of one checkpoint: every column, and the hash of the checkpoint before it. lib/audit-chain.ts computes the
-- same.
create or replace function audit_checkpoint_hash(c audit_checkpoints) returns text
language sql stable
as $$
  select encode(sha256(convert_to(concat_ws('|',
    c.prev_hash, c.ordinal, c.id, c.chain, c.up_to_ordinal, c.row_count, c.digest,
    to_char(c.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US')
  ), 'UTF8')), 'hex')
$$;
