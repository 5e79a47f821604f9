-- Keeps a table append-only for every login, the tables' owner included, until the trigger is dropped on purpose.
create or replace function refuse_change() returns trigger
language plpgsql
as $$
begin
  raise exception '% of % is refused: the table is append-only', tg_op, tg_table_name using errcode = 'insufficient_privilege';
end
$$;

create or replace trigger append_only before update or delete or truncate on payment_events
  for each statement execute function refuse_change();
create or replace trigger append_only before update or delete or truncate on refund_events
  for each statement execute function refuse_change();
create or replace trigger append_only before update or delete or truncate on payout_events
  for each statement execute function refuse_change();
create or replace trigger append_only before update or delete or truncate on dispute_events
  for each statement execute function refuse_change();
create or replace trigger append_only before update or delete or truncate on operator_actions
  for each statement execute function refuse_change();
create or replace trigger append_only before update or delete or truncate on audit_checkpoints
  for each statement execute function refuse_change();
create or replace trigger append_only before update or delete or truncate on transfers
  for each statement execute function refuse_change();
create or replace trigger append_only before update or delete or truncate on transactions
  for each statement execute function refuse_change();
create or replace trigger append_only before update or delete or truncate on ledger_entries
  for each statement execute function refuse_change();
create or replace trigger append_only before update or delete or truncate on corrections
  for each statement execute function refuse_change();
