-- A refund that the bank has made can come back, because the payer's account is closed: its line is a credit under the
-- refund's end-to-end id. Until an operator credits it to the merchant, the money is at our bank and in no balance.
drop index bank_statement_lines__refund;
create unique index bank_statement_lines__refund on bank_statement_lines (merchant_id, refund_id, direction)
  where refund_id is not null;
create index bank_statement_lines__returned on bank_statement_lines (matched_at)
  where refund_id is not null and direction = 'CREDIT';

alter table corrections
  -- The returned refund that it credits, which is credited once.
  add column refund_id uuid,
  add unique (merchant_id, refund_id),
  add foreign key (merchant_id, refund_id) references payment_refunds (merchant_id, id),
  add check (refund_id is null or (booked_against = 'bank' and amount > 0));
