-- Lists of failed and of refunded payments: where a merchant has few of them, the index by time reads its whole history. The
-- predicate leaves out the statuses that every payment passes, so that creating and settling one write nothing here.
-- One for each: under row-level security a status can be the condition of an index, and not one that it is searched by.
create index payment_intents__failed on payment_intents (merchant_id, created_at desc, id desc) where status = 'Failed';
create index payment_intents__refunded on payment_intents (merchant_id, created_at desc, id desc) where status = 'Refunded';
