-- The moves of disputes/states.ts, asserted by the database as well (contract §Dispute status).
create or replace function guard_dispute_move() returns trigger
language plpgsql
as $$
begin
  if (old.status, new.status) not in (
    ('OPEN', 'UNDER_REVIEW'), ('OPEN', 'ESCALATED'), ('OPEN', 'RESOLVED_PAYER_FAVOUR'),
    ('UNDER_REVIEW', 'ESCALATED'), ('UNDER_REVIEW', 'RESOLVED_MERCHANT_FAVOUR'), ('UNDER_REVIEW', 'RESOLVED_PAYER_FAVOUR'),
    ('ESCALATED', 'RESOLVED_MERCHANT_FAVOUR'), ('ESCALATED', 'RESOLVED_PAYER_FAVOUR')
  ) then
    raise exception 'a dispute can''t move from % to %', old.status, new.status using errcode = 'check_violation';
  end if;
  return new;
end
$$;

create or replace trigger guard_move before update of status on disputes
  for each row when (old.status is distinct from new.status) execute function guard_dispute_move();
