-- The actions of operators and of the service's own administration: actor, time, reason, and the state before and
-- after. Append-only (functions/refuse_change.sql), and chained from row to row over the whole table, because operators
-- are few (functions/seal_operator_action.sql).
create table operator_actions (
  -- Set by the trigger that chains the rows, so that the order of the ordinals is the order of the chain.
  ordinal bigint primary key,
  id uuid not null unique,
  -- The token's subject (a person's or a client's id), and the name and role it acted under.
  actor_id text not null,
  actor_name text not null,
  actor_role text not null,
  action text not null check (action ~ '^[a-z_]+(\.[a-z_]+)+$'),
  -- The merchant concerned, if there is one, and the row that was changed.
  merchant_id uuid references merchants (id),
  subject_id text not null,
  reason text,
  before json,
  after json,
  prev_hash char(64) not null,
  action_hash char(64) not null,
  created_at timestamptz not null default now()
);

create sequence operator_actions_ordinal_seq owned by operator_actions.ordinal;

create index operator_actions__merchant_id__ordinal on operator_actions (merchant_id, ordinal desc);
-- Which keys a realm has revoked is read while one is stolen: not by reading the whole trail (staff/realm-keys-sql.ts).
create index operator_actions__revoked_keys on operator_actions (subject_id, ordinal desc)
where action = 'realm.rotate_keys' and after is not null;

grant select, insert on operator_actions to svc_runtime;
grant usage on sequence operator_actions_ordinal_seq to svc_runtime;

-- Finds the damage that a chain within one payment cannot show: its last events were cut off, or all of them are gone.
-- A job regularly records how many rows a chain has, up to which ordinal, and a digest over their hashes. Append-only,
-- and chained themselves (functions/seal_audit_checkpoint.sql).
--
-- A bigserial's ordinals are not assigned in the order of commits, so a checkpoint covers only rows that no open
-- transaction can precede any more: those older than ten minutes. A transaction of the service lives for seconds
-- (db/connection.ts: 5 s for a statement, 5 s idle, 2 s for a lock; no transaction waits for a bank, a merchant or a
-- mail server).
create table audit_checkpoints (
  -- Set by the trigger that chains the rows, as in operator_actions.
  ordinal bigint primary key,
  id uuid not null unique,
  chain text not null check (
    chain in (
      'operator_actions', 'payment_events', 'refund_events', 'dispute_events', 'payout_events', 'ledger_entries'
    )
  ),
  -- It covers the rows after the previous checkpoint of the same chain, up to this ordinal.
  up_to_ordinal bigint not null,
  row_count bigint not null check (row_count > 0),
  -- sha256 of the previous digest (64 zeros for the first) and the hashes of the rows, in their order.
  digest char(64) not null,
  prev_hash char(64) not null,
  checkpoint_hash char(64) not null,
  created_at timestamptz not null default now(),
  unique (chain, up_to_ordinal)
);

create sequence audit_checkpoints_ordinal_seq owned by audit_checkpoints.ordinal;

grant select, insert on audit_checkpoints to svc_runtime;
grant usage on sequence audit_checkpoints_ordinal_seq to svc_runtime;
