-- The moves of instructions/requests/states.ts, asserted by the database as well.
create or replace function guard_payment_request_move() returns trigger
language plpgsql
as $$
begin
  if (old.status, new.status) not in (
    ('Sent', 'Accepted'), ('Sent', 'Rejected'), ('Accepted', 'Paid'), ('Accepted', 'Rejected')
  ) then
    raise exception 'a request can''t move from % to %', old.status, new.status using errcode = 'check_violation';
  end if;
  return new;
end
$$;

create or replace trigger guard_move before update of status on payment_requests
  for each row when (old.status is distinct from new.status) execute function guard_payment_request_move();
