-- The moves of instructions/orders/states.ts, asserted by the database as well.
create or replace function guard_order_move() returns trigger
language plpgsql
as $$
begin
  if (old.status, new.status) not in (
    ('Pending', 'AcceptedSettlementInProcess'), ('Pending', 'Rejected'), ('AcceptedSettlementInProcess', 'Rejected'),
    ('AcceptedSettlementInProcess', 'AcceptedSettlementCompleted')
  ) then
    raise exception 'an order can''t move from % to %', old.status, new.status using errcode = 'check_violation';
  end if;
  return new;
end
$$;

create or replace trigger guard_move before update of status on payment_orders
  for each row when (old.status is distinct from new.status) execute function guard_order_move();
