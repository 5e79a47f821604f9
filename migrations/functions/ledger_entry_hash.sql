-- The hash of one entry of the ledger: every column. An entry has no other before it, because entries of one merchant
-- would then wait for each other; checkpoints seal their order. lib/audit-chain.ts computes the same.
create or replace function ledger_entry_hash(e ledger_entries) returns text
language sql stable
as $$
  select encode(sha256(convert_to(concat_ws('|',
    e.ordinal, e.merchant_id, e.movement, e.subject_id, e.debit, e.credit, e.amount, e.currency,
    to_char(e.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US')
  ), 'UTF8')), 'hex')
$$;
