-- An account begins empty: no statement but a transfer adds money to it.
create or replace function refuse_unbooked_balance() returns trigger
language plpgsql
as $$
begin
  raise exception 'an account begins empty; money comes to it by book_transfer' using errcode = 'check_violation';
end
$$;

create or replace trigger begins_empty before insert on accounts
  for each row when (new.balance_minor <> 0 or new.transaction_count <> 0) execute function refuse_unbooked_balance();
