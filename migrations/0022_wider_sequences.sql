-- The place of an event among its payment's was a smallint: at 32767 the payment's next move failed. The columns are
-- written anew, which locks their tables as long as that takes; the functions that fill them count in integers already.
alter table payment_intents alter column webhook_sequence type integer;
alter table webhook_deliveries alter column sequence type integer;
alter table webhook_queue alter column sequence type integer;
