-- The mail outbox: queued with what causes the mail, sent by a job, and readable in the sandbox where nothing is sent.
create table mails (
  id uuid primary key,
  -- Null for the platform's own mail.
  merchant_id uuid references merchants (id),
  -- The realm that its links open doors of.
  realm text not null,
  kind text not null,
  recipient text not null,
  subject text not null,
  -- Sealed: it carries links that open doors. Null once it is of no more use in live mode.
  body text check (body like 'v1.%'),
  -- KEPT: no mail server is configured; the sandbox shows it. DEAD: given up after the last attempt.
  status text not null check (status in ('PENDING', 'SENT', 'KEPT', 'DEAD')),
  attempt_count smallint not null default 0,
  due_at timestamptz not null default now(),
  locked_until timestamptz,
  last_error text,
  sent_at timestamptz,
  created_at timestamptz not null default now()
);

create index mails__due_at on mails (due_at) where status = 'PENDING';
create index mails__created_at on mails (created_at desc);
create index mails__realm__recipient on mails (realm, recipient, created_at desc);

grant select, insert, update, delete on mails to svc_runtime;
