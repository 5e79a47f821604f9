-- What the service is to banks: the software statement of the Open Banking directory, its clients at banks, and the last
-- test of each. Keys and assertion are sealed under the master key, so that a dump does not let its reader act as the platform.
create table bank_software_statements (
  id text primary key check (id = 'current'),
  software_id text not null,
  -- JSON: ids, assertion, certificate, keys.
  statement text not null check (statement like 'v1.%'),
  set_by text not null,
  set_at timestamptz not null default now()
);

-- A client belongs to the software that registered it: with other software, a bank is registered at again.
create table bank_registrations (
  bank_id text not null,
  software_id text not null,
  client_id text not null check (length(client_id) between 1 and 255),
  registered_by text not null,
  registered_at timestamptz not null default now(),
  primary key (bank_id, software_id)
);

create table bank_tests (
  bank_id text primary key,
  passed boolean not null,
  -- [{step, passed, detail}]
  steps jsonb not null,
  tested_by text not null,
  tested_at timestamptz not null default now(),
  -- The last test that passed: what `proven` means.
  passed_at timestamptz
);

-- Whether banks answer, as all processes together know it: the last silence, and the last answer.
create table bank_outages (
  bank_id text primary key,
  -- The first and the last of the calls in a row without an answer, and until when payers are not offered the bank.
  silent_since timestamptz,
  silent_at timestamptz,
  rests_until timestamptz,
  -- Recorded once a minute while it answers, and at once when it answers again.
  answered_at timestamptz,
  check (num_nulls(silent_since, silent_at, rests_until) in (0, 3))
);

grant select, insert, update on bank_software_statements, bank_registrations, bank_tests, bank_outages to svc_runtime;
