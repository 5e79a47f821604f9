-- The outbox of mails and text messages: queued in the transaction that causes the message, sent by a job, and readable
-- in the sandbox, where nothing is sent.
create table mails (
  id uuid primary key,
  -- Null for the platform's own mail.
  merchant_id uuid references merchants (id),
  -- The realm that its links sign in to.
  realm text not null,
  kind text not null,
  -- Sealed, and found by a keyed hash of its lower case (decision 277).
  recipient text not null check (recipient like 'v1.%'),
  recipient_hash char(64) not null check (recipient_hash ~ '^[0-9a-f]{64}$'),
  subject text not null,
  -- Sealed, because its links are credentials. Erased in live mode once it has been sent or has become useless.
  body text check (body like 'v1.%'),
  -- KEPT: no mail server is configured, and the sandbox shows it. DEAD: given up after the last attempt.
  status text not null check (status in ('PENDING', 'SENT', 'KEPT', 'DEAD')),
  attempt_count smallint not null default 0,
  due_at timestamptz not null default now(),
  locked_until timestamptz,
  last_error text,
  sent_at timestamptz,
  created_at timestamptz not null default now(),
  channel text not null default 'EMAIL' check (channel in ('EMAIL', 'SMS')),
  -- When the message becomes useless, because its link has expired, and is no longer sent. Null where that never
  -- happens.
  useless_at timestamptz,
  -- The payment whose receipt it is, so that one is not sent over and over. No reference: it belongs to no merchant.
  payment_id uuid
);

create index mails__due_at on mails (due_at) where status = 'PENDING';
-- What people sign in with goes first.
create index mails__due_at_urgent on mails (due_at) where status = 'PENDING' and useless_at is not null;
create index mails__created_at on mails (created_at desc);
create index mails__recipient on mails (recipient_hash, created_at desc);
-- How many invitations a merchant sends.
create index mails__realm_created_at on mails (realm, created_at desc) where kind = 'invite';
create index mails__payment_id on mails (payment_id) where payment_id is not null;

grant select, insert, update, delete on mails to svc_runtime;
