-- Refunds that no bank API carries out go to the bank in the files of payouts. Such a refund is PENDING, and no job asks a
-- bank about it: it has an end-to-end id of its own instead of a time. It is in one file only.
alter table payment_refunds alter column resume_at drop not null;
alter table payment_refunds
  add column end_to_end_id varchar(35) unique,
  add column file_id uuid references payout_files (id),
  add column sent_at timestamptz,
  add check (num_nonnulls(resume_at, end_to_end_id) = 1),
  add check (num_nonnulls(file_id, sent_at) <> 1),
  add check (file_id is null or end_to_end_id is not null),
  -- Without a file no bank has heard of it.
  add check (end_to_end_id is null or status = 'PENDING' or file_id is not null);

create index payment_refunds__to_file on payment_refunds (created_at, id)
  where status = 'PENDING' and end_to_end_id is not null and file_id is null;
create index payment_refunds__file_id on payment_refunds (file_id) where file_id is not null;
create index payment_refunds__sent_at on payment_refunds (sent_at) where sent_at is not null;

grant update (file_id, sent_at) on payment_refunds to svc_runtime;

alter table payout_files add column refund_count integer not null default 0 check (refund_count >= 0);
alter table payout_files drop constraint payout_files_payout_count_check;
alter table payout_files add check (payout_count >= 0 and payout_count + refund_count > 0);
