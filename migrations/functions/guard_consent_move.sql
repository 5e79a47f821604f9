-- The moves of consents/states.ts, asserted by the database as well (contract §Consent status).
create or replace function guard_consent_move() returns trigger
language plpgsql
as $$
begin
  if (old.status, new.status) not in (
    ('AWAITING_AUTHORISATION', 'AUTHORISED'), ('AWAITING_AUTHORISATION', 'REJECTED'), ('AWAITING_AUTHORISATION', 'EXPIRED'),
    ('AUTHORISED', 'REVOKED'), ('AUTHORISED', 'EXPIRED')
  ) then
    raise exception 'a consent can''t move from % to %', old.status, new.status using errcode = 'check_violation';
  end if;
  -- Only mandates move on after AUTHORISED: a single consent ends with its payment.
  if old.status = 'AUTHORISED' and new.consent_type <> 'VARIABLE_RECURRING' then
    raise exception 'a single consent can''t move from % to %', old.status, new.status using errcode = 'check_violation';
  end if;
  return new;
end
$$;

create or replace trigger guard_move before update of status on payment_consents
  for each row when (old.status is distinct from new.status) execute function guard_consent_move();
