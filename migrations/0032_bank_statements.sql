-- What the bank says of our account, line by line, and which of our movements each line is. Lines are never changed and
-- never removed: matching fills the columns that say what a line is.
create table bank_statements (
  id uuid primary key,
  format text not null check (format in ('camt.053', 'camt.054', 'csv')),
  reference varchar(140) not null,
  account varchar(64) not null,
  currency char(3) check (currency ~ '^[A-Z]{3}$'),
  opening_amount numeric(19, 4),
  closing_amount numeric(19, 4),
  line_count integer not null,
  -- Lines that no earlier file had.
  new_line_count integer not null,
  unbooked_count integer not null,
  file_hash char(64) not null check (file_hash ~ '^[0-9a-f]{64}$'),
  -- Its place in the file, which may have several.
  file_position smallint not null,
  imported_by text not null,
  imported_at timestamptz not null default now(),
  unique (file_hash, file_position)
);

create index bank_statements__imported_at__id on bank_statements (imported_at desc, id desc);

create table bank_statement_lines (
  id uuid primary key,
  statement_id uuid not null references bank_statements (id),
  account varchar(64) not null,
  -- SHA-256 over what identifies the line at its bank. A notification and a statement, or two statements that overlap,
  -- name the same line: it is kept once.
  line_hash char(64) not null check (line_hash ~ '^[0-9a-f]{64}$'),
  booked_on date not null,
  direction text not null check (direction in ('CREDIT', 'DEBIT')),
  amount numeric(19, 4) not null check (amount > 0 and amount <> 'NaN'),
  currency char(3) not null check (currency ~ '^[A-Z]{3}$'),
  is_reversal boolean not null,
  bank_reference varchar(140),
  end_to_end_id varchar(35),
  remittance varchar(500),
  -- Why money has come back, by the code of its bank, such as AC04.
  return_reason varchar(35),
  -- Of an end-to-end id of ours that the line names, what the shortest field of a bank keeps (decision 255), in any case and
  -- with words around it.
  named_id text generated always as (
    'SVC' || lower(coalesce(
      (regexp_match(end_to_end_id, 'svc([0-9a-f]{15})', 'i'))[1], (regexp_match(remittance, 'svc([0-9a-f]{15})', 'i'))[1]
    ))
  ) stored,
  merchant_id uuid,
  payment_id uuid,
  refund_id uuid,
  payout_id uuid,
  -- The rule that found what the line is, MANUAL where an operator said so; null while it is not known.
  matched_by text check (matched_by in ('END_TO_END_ID', 'END_TO_END_ID_31', 'END_TO_END_ID_18', 'REFERENCE', 'MANUAL')),
  matched_at timestamptz,
  resolution_reason text,
  created_at timestamptz not null default now(),
  unique (account, line_hash),
  foreign key (merchant_id, payment_id) references payment_intents (merchant_id, id),
  foreign key (merchant_id, refund_id) references payment_refunds (merchant_id, id),
  foreign key (merchant_id, payout_id) references payouts (merchant_id, id),
  check ((matched_by is null) = (matched_at is null)),
  check ((matched_by = 'MANUAL') = (resolution_reason is not null)),
  check (refund_id is null or payment_id is not null),
  check ((merchant_id is null) = (payment_id is null and payout_id is null)),
  check (payment_id is null or payout_id is null)
);

-- A payment arrives once. A refund and a payout, which is paid with its line, leave once, and can come back once: because
-- an account is closed, its line is a credit under the end-to-end id of what left. Until an operator credits a returned
-- refund to the merchant, the money is at our bank and in no balance.
create unique index bank_statement_lines__payment on bank_statement_lines (merchant_id, payment_id)
  where payment_id is not null and refund_id is null;
create unique index bank_statement_lines__refund on bank_statement_lines (merchant_id, refund_id, direction)
  where refund_id is not null;
create unique index bank_statement_lines__payout on bank_statement_lines (merchant_id, payout_id, direction)
  where payout_id is not null;
create index bank_statement_lines__payment_id on bank_statement_lines (payment_id) where payment_id is not null;
create index bank_statement_lines__statement_id on bank_statement_lines (statement_id);
create index bank_statement_lines__unmatched on bank_statement_lines (booked_on desc, id desc) where matched_by is null;
-- Lines that name an id of ours and are nothing here: a payout that was paid twice, what has failed, and what came back of it.
create index bank_statement_lines__named_id on bank_statement_lines (named_id)
  where merchant_id is null and named_id is not null;
create index bank_statement_lines__booked_on__id on bank_statement_lines (booked_on desc, id desc);
-- What reconciling a day reads.
create index bank_statement_lines__matched on bank_statement_lines (merchant_id, matched_at) where matched_at is not null;
create index bank_statement_lines__returned on bank_statement_lines (matched_at)
  where refund_id is not null and direction = 'CREDIT';
-- The first and the last day that statements in a currency have: reconciliation asks for them with each payment of a real
-- bank, and would read all lines of the other currencies for a rare one.
create index bank_statement_lines__currency__booked_on on bank_statement_lines (currency, booked_on);

grant select, insert on bank_statements to svc_runtime;
grant select, insert on bank_statement_lines to svc_runtime;
grant update (merchant_id, payment_id, refund_id, payout_id, matched_by, matched_at, resolution_reason) on bank_statement_lines to svc_runtime;
