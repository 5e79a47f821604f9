-- The audit trail of payments (specification, Payment event). Append-only in the database itself: triggers refuse
-- update, delete and truncate to everyone, and the runtime role has no right to any of them, nor to an insert of its
-- own. Each row carries the hash of its payload and of the row before it in the same payment, so that what a superuser
-- edits behind the triggers is found.
create table payment_events (
  ordinal bigserial primary key,
  id uuid not null unique,
  merchant_id uuid not null,
  payment_intent_id uuid not null,
  previous_status payment_status,
  new_status payment_status not null,
  changed_by varchar(100) not null check (changed_by in ('MERCHANT_API', 'BANK_CALLBACK', 'BATCH_JOB')),
  -- json and not jsonb: the text is kept as it came, and the hash is of that text.
  raw_payload json not null,
  raw_payload_sha256 char(64) not null,
  prev_hash char(64) not null,
  event_hash char(64) not null,
  created_at timestamptz not null default now(),
  foreign key (merchant_id, payment_intent_id) references payment_intents (merchant_id, id),
  -- The transition table once more; a test holds it against payments/states.ts.
  constraint payment_events__transition check (
    case previous_status
      when 'Initiated' then new_status in ('AwaitingAuthorisation', 'Failed')
      when 'AwaitingAuthorisation' then new_status in ('Authorised', 'Failed')
      when 'Authorised' then new_status in ('Settled', 'Failed')
      when 'Settled' then new_status = 'Refunded'
      -- A comparison with null would be null, which a check takes for true.
      else previous_status is null and new_status in ('Initiated', 'AwaitingAuthorisation')
    end
  )
);

create index payment_events__merchant_id__payment_intent_id__ordinal
  on payment_events (merchant_id, payment_intent_id, ordinal);

-- The hash of one event: every column, and the hash of the event before it.
create function payment_event_hash(e payment_events) returns text
language sql stable
as $$
  select encode(sha256(convert_to(concat_ws('|',
    e.prev_hash, e.ordinal, e.id, e.merchant_id, e.payment_intent_id, coalesce(e.previous_status::text, '-'), e.new_status,
    e.changed_by, e.raw_payload_sha256, to_char(e.created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US')
  ), 'UTF8')), 'hex')
$$;

create function seal_payment_event() returns trigger
language plpgsql
as $$
begin
  new.raw_payload_sha256 := encode(sha256(convert_to(new.raw_payload::text, 'UTF8')), 'hex');
  new.prev_hash := repeat('0', 64);
  if new.previous_status is not null then
    -- The row lock on the payment makes its events strictly one after the other.
    select event_hash into strict new.prev_hash
    from payment_events
    where merchant_id = new.merchant_id and payment_intent_id = new.payment_intent_id
    order by ordinal desc
    limit 1;
  end if;
  new.event_hash := payment_event_hash(new);
  return new;
end
$$;

create trigger seal before insert on payment_events for each row execute function seal_payment_event();

create function refuse_change() returns trigger
language plpgsql
as $$
begin
  raise exception '% of % is refused: the table is append-only', tg_op, tg_table_name using errcode = 'insufficient_privilege';
end
$$;

create trigger append_only before update or delete or truncate on payment_events
  for each statement execute function refuse_change();

grant select on payment_events to svc_runtime;
