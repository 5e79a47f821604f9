-- Payouts and refunds by file: where no bank API sends them, an operator takes an instruction file to the bank (pain.001 of
-- ISO 20022), and brings its answers (pain.002) and statements back. A file is kept as it was written: reading it again gives
-- the same bytes, so that the bank, which knows it by its message id, can refuse it as a copy.
create table payout_files (
  id uuid primary key,
  message_id varchar(35) not null unique,
  payout_count integer not null,
  refund_count integer not null default 0 check (refund_count >= 0),
  control_sum numeric(24, 4) not null check (control_sum > 0),
  -- Sealed, since it has the numbers of bank accounts; the hash is of the file itself.
  content text not null check (content like 'v1.%'),
  content_hash char(64) not null check (content_hash ~ '^[0-9a-f]{64}$'),
  created_by text not null,
  created_at timestamptz not null default now(),
  check (payout_count >= 0 and payout_count + refund_count > 0)
);

create index payout_files__created_at__id on payout_files (created_at desc, id desc);

-- The content is sealed again with each new master key.
grant select, insert, update (content) on payout_files to svc_runtime;
