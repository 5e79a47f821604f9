-- What a chain within one payment can't show: that its last events were cut off, or that all of them are gone. Now and
-- then a job writes down how many rows there are, up to which ordinal, and a digest over their hashes. Append-only, and
-- chained themselves.
--
-- Ordinals of a bigserial are not given out in the order of commits, so only rows are sealed that no open transaction can
-- get below any more: those of ten minutes ago. A transaction of the service lives for seconds (db/connection.ts: 5 s for
-- a statement, 5 s idle, 2 s for a lock; no transaction waits for a bank, a merchant or a mail server).
create table audit_checkpoints (
  -- Given out by the trigger that chains the rows, as with operator_actions.
  ordinal bigint primary key,
  id uuid not null unique,
  chain text not null check (chain in ('operator_actions', 'payment_events', 'dispute_events')),
  -- It seals the rows from the checkpoint of the same chain before it up to here.
  up_to_ordinal bigint not null,
  row_count bigint not null check (row_count > 0),
  -- sha256 of the digest before it (64 zeros for the first) and the hashes of the rows, in their order.
  digest char(64) not null,
  prev_hash char(64) not null,
  checkpoint_hash char(64) not null,
  created_at timestamptz not null default now(),
  unique (chain, up_to_ordinal)
);

create sequence audit_checkpoints_ordinal_seq owned by audit_checkpoints.ordinal;

-- The hash of one checkpoint: every column, and the hash of the checkpoint before it.
create function audit_checkpoint_hash(c audit_checkpoints) returns text
language sql stable
as $$
  select encode(sha256(convert_to(concat_ws('|',
    c.prev_hash, c.ordinal, c.id, c.chain, c.up_to_ordinal, c.row_count, c.digest,
    to_char(c.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US')
  ), 'UTF8')), 'hex')
$$;

create function seal_audit_checkpoint() returns trigger
language plpgsql
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('audit_checkpoints', 0));
  new.ordinal := nextval('audit_checkpoints_ordinal_seq');
  select checkpoint_hash into new.prev_hash from audit_checkpoints order by ordinal desc limit 1;
  new.prev_hash := coalesce(new.prev_hash, repeat('0', 64));
  new.checkpoint_hash := audit_checkpoint_hash(new);
  return new;
end
$$;

create trigger seal before insert on audit_checkpoints for each row execute function seal_audit_checkpoint();
create trigger append_only before update or delete or truncate on audit_checkpoints
  for each statement execute function refuse_change();

grant select, insert on audit_checkpoints to svc_runtime;
grant usage on sequence audit_checkpoints_ordinal_seq to svc_runtime;
