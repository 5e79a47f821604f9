-- Ends a mandate and returns REVOKED, also for one that was revoked before; null where no active mandate has this id.
create or replace function revoke_consent(of_merchant uuid, consent uuid, by text) returns consent_status
language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  update payment_consents c
  set status = 'REVOKED', revoked_by = by, revocation_due_at = now(), updated_at = now()
  where c.merchant_id = of_merchant and c.id = consent and c.consent_type = 'VARIABLE_RECURRING'
    and c.status = 'AUTHORISED' and c.expires_at > now();
  if found then
    return 'REVOKED';
  end if;
  return (select c.status from payment_consents c where c.merchant_id = of_merchant and c.id = consent and c.status = 'REVOKED');
end
$$;

revoke execute on function revoke_consent(uuid, uuid, text) from public;
grant execute on function revoke_consent(uuid, uuid, text) to svc_runtime;
