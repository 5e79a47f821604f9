-- A bank can say that it has settled a payment after the payment has failed here: the money is at our bank and in no
-- balance, until an operator says what becomes of it (decision 278). Null where the bank has said nothing yet.
alter table unanswered_payments add column bank_reference text;

grant update (bank_reference) on unanswered_payments to svc_runtime;

-- Reconciliation reads what the mock bank gave back in a time: bookings are inserted in its order.
create index bank_credits__created_at on mock_bank.bank_credits using brin (created_at) with (pages_per_range = 16, autosummarize = on);
