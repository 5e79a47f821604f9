-- The moves of instructions/recurring/states.ts, asserted by the database as well.
create or replace function guard_recurring_move() returns trigger
language plpgsql
as $$
begin
  if (old.status, new.status) not in (
    ('InitiationPending', 'InitiationCompleted'), ('InitiationPending', 'InitiationFailed'),
    ('InitiationCompleted', 'Cancelled')
  ) then
    raise exception 'a recurring payment can''t move from % to %', old.status, new.status
      using errcode = 'check_violation';
  end if;
  return new;
end
$$;

create or replace trigger guard_move before update of status on recurring_payments
  for each row when (old.status is distinct from new.status) execute function guard_recurring_move();
