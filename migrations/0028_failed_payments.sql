-- Lists of failed and of refunded payments: where a merchant has few of them, the index by time reads its whole history. The
-- predicate leaves out the statuses that every payment passes, so that creating and settling one write nothing here.
create index payment_intents__failed_refunded on payment_intents (merchant_id, status, created_at desc, id desc)
  where status in ('Failed', 'Refunded');
