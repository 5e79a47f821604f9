-- What operators and the service's own administration did: who, when, why, and the thing before and after. Append-only
-- like the events of payments, and chained from row to row over the whole table, for operators are few.
create table operator_actions (
  -- Given out by the trigger that chains the rows, so that the order of numbers is the order of the chain.
  ordinal bigint primary key,
  id uuid not null unique,
  -- The token's subject (a person's or a client's id), and the name and role it acted under.
  actor_id text not null,
  actor_name text not null,
  actor_role text not null,
  action text not null check (action ~ '^[a-z_]+(\.[a-z_]+)+$'),
  -- Whom it is about: a merchant, where it is about one, and the row that was changed.
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

-- The hash of one action: every column, and the hash of the action before it.
create function operator_action_hash(a operator_actions) returns text
language sql stable
as $$
  select encode(sha256(convert_to(concat_ws('|',
    a.prev_hash, a.ordinal, a.id, to_json(a.actor_id), to_json(a.actor_name), a.actor_role, a.action,
    coalesce(a.merchant_id::text, '-'), to_json(a.subject_id), coalesce(to_json(a.reason)::text, '-'),
    coalesce(a.before::text, '-'), coalesce(a.after::text, '-'),
    to_char(a.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US')
  ), 'UTF8')), 'hex')
$$;

create function seal_operator_action() returns trigger
language plpgsql
as $$
begin
  -- One after the other: the chain has no branches, and the number is given out under the lock.
  perform pg_advisory_xact_lock(hashtextextended('operator_actions', 0));
  new.ordinal := nextval('operator_actions_ordinal_seq');
  select action_hash into new.prev_hash from operator_actions order by ordinal desc limit 1;
  new.prev_hash := coalesce(new.prev_hash, repeat('0', 64));
  new.action_hash := operator_action_hash(new);
  return new;
end
$$;

create trigger seal before insert on operator_actions for each row execute function seal_operator_action();
create trigger append_only before update or delete or truncate on operator_actions
  for each statement execute function refuse_change();

grant select, insert on operator_actions to svc_runtime;
grant usage on sequence operator_actions_ordinal_seq to svc_runtime;
