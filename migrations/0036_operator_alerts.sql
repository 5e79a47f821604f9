-- What operators are alerted to (src/alerts): one row for each alert and subject, and the messages about its changes.
create table operator_alerts (
  name text not null,
  -- A merchant, a bank; empty where there is only one.
  subject text not null,
  is_firing boolean not null,
  detail text not null,
  -- When it began, or ended.
  since timestamptz not null default now(),
  -- When a worker last found it. It ends when none has for a while.
  seen_at timestamptz not null default now(),
  primary key (name, subject)
);

-- A message for each change and channel. It is deleted when it was sent, and tried until then. Those about one thing are
-- sent in order: an end is never reported before its beginning. Those about other things do not wait for them.
create table operator_alert_messages (
  id bigint generated always as identity primary key,
  channel text not null check (channel in ('WEBHOOK', 'MAIL')),
  name text not null,
  subject text not null,
  is_firing boolean not null,
  detail text not null,
  since timestamptz not null,
  attempt_count integer not null default 0,
  due_at timestamptz not null default now()
);

grant select, insert, update, delete on operator_alerts to svc_runtime;
grant select, insert, update, delete on operator_alert_messages to svc_runtime;
