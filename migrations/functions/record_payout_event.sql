-- Writes an event for each new payout, with what is paid and where, and for each move of its status. A trigger, because
-- the runtime role may write payouts and must not be able to write their history.
-- needs: functions/seal_payout_event
create or replace function record_payout_event() returns trigger
language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  if tg_op = 'INSERT' then
    insert into payout_events (
      id, merchant_id, payout_id, new_status, changed_by, prev_hash, event_hash, bank_account_id, amount, currency
    )
    values (
      gen_random_uuid(), new.merchant_id, new.id, new.status, new.changed_by, '', '', new.bank_account_id, new.amount,
      new.currency
    );
  else
    insert into payout_events (id, merchant_id, payout_id, previous_status, new_status, changed_by, prev_hash, event_hash)
    values (gen_random_uuid(), new.merchant_id, new.id, old.status, new.status, new.changed_by, '', '');
  end if;
  return null;
end
$$;

create or replace trigger record_created after insert on payouts for each row execute function record_payout_event();
create or replace trigger record_move after update of status on payouts
  for each row when (old.status is distinct from new.status) execute function record_payout_event();
