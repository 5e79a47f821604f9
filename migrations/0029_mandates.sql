-- Mandates: consents for recurring payments, set up with a first payment that the payer authorises; later payments name the
-- mandate and need no authorisation of their own (decision 49).
alter table payment_consents
  -- When the mandate ends; it becomes the consent's expires_at once the bank has authorised it.
  add column valid_to timestamptz,
  -- A mandate that was ended is told to its bank by a job; null while there is nothing to tell.
  add column revocation_due_at timestamptz,
  add column revoked_by text check (revoked_by in ('PAYER', 'MERCHANT')),
  add constraint payment_consents__valid_to check ((consent_type = 'VARIABLE_RECURRING') = (valid_to is not null)),
  add constraint payment_consents__revoked_by check ((status = 'REVOKED') = (revoked_by is not null));

alter table payment_intents
  -- Whether it was made under a mandate that was authorised before, and so has no redirect and waits for no payer.
  add column under_mandate boolean not null default false,
  -- Of a payment under a mandate, where it says something else than the mandate: what the payer reads beside it, and how
  -- the sandbox's bank treats it.
  add column remittance_reference varchar(18),
  add column sandbox_scenario varchar(64),
  alter column redirect_uri drop not null,
  add constraint payment_intents__redirect_uri check (under_mandate = (redirect_uri is null));

create index payment_intents__under_mandate on payment_intents (created_at)
  where under_mandate and status in ('Initiated', 'AwaitingAuthorisation');
create index payment_consents__recurring on payment_consents (merchant_id, created_at desc, id desc)
  where consent_type = 'VARIABLE_RECURRING';
create index payment_consents__recurring__expires_at on payment_consents (expires_at)
  where consent_type = 'VARIABLE_RECURRING' and status = 'AUTHORISED';
create index payment_consents__revocation_due_at on payment_consents (revocation_due_at)
  where revocation_due_at is not null;

grant update (revocation_due_at) on payment_consents to svc_runtime;

-- Ends a mandate; null where there is none of this id that is active, or that was ended before.
create function revoke_consent(of_merchant uuid, consent uuid, by text) returns consent_status
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

-- Ends the mandates whose time is over, the first ones first; answers how many they were.
create function expire_mandates(rows_max integer) returns integer
language plpgsql
security definer
set search_path = public, pg_temp
as $$
declare
  ended integer;
begin
  update payment_consents c
  set status = 'EXPIRED', updated_at = now()
  from (
    select merchant_id, id
    from payment_consents
    where consent_type = 'VARIABLE_RECURRING' and status = 'AUTHORISED' and expires_at <= now()
    order by expires_at
    limit rows_max
    for update skip locked
  ) due
  where c.merchant_id = due.merchant_id and c.id = due.id;
  get diagnostics ended = row_count;
  return ended;
end
$$;

revoke execute on function expire_mandates(integer) from public;
grant execute on function expire_mandates(integer) to svc_runtime;

-- The mock bank's own word on mandates: what was authorised as one, what was paid under one, and which it was told to end.
alter table mock_bank.authorisations
  -- Until when further payments may be made under it; null where one payment was authorised and nothing else.
  add column mandate_valid_to timestamptz,
  -- The consent_reference of the mandate that it was paid under; null where the payer authorised it.
  add column mandate_reference text;

create table mock_bank.ended_mandates (
  consent_reference text primary key,
  created_at timestamptz not null default now()
);

grant select, insert on mock_bank.ended_mandates to svc_runtime;

-- Time travel reaches the end of mandates, and waits for what is paid under them.
create or replace function sandbox_due_times(merchant uuid) returns table (due_at timestamptz)
language sql stable
set search_path = public, pg_temp
as $$
  select q.due_at from webhook_queue q where q.merchant_id = merchant
  union all
  select c.expires_at from payment_consents c where c.merchant_id = merchant and c.status = 'AWAITING_AUTHORISATION'
  union all
  select c.expires_at
  from payment_consents c
  where c.merchant_id = merchant and c.status = 'AUTHORISED' and c.consent_type = 'VARIABLE_RECURRING'
  union all
  select coalesce(p.locked_until, p.created_at)
  from payment_intents p
  where p.merchant_id = merchant and p.under_mandate and p.status in ('Initiated', 'AwaitingAuthorisation')
  union all
  select p.settle_at
  from payment_intents p
  where p.merchant_id = merchant and p.status = 'Authorised' and (p.locked_until is null or p.locked_until <= now())
  union all
  select r.resume_at from payment_refunds r where r.merchant_id = merchant and r.status = 'PENDING'
  union all
  select d.evidence_due_at from disputes d where d.merchant_id = merchant and d.status = 'OPEN'
$$;

create or replace function advance_sandbox_clock(merchant uuid, by interval) returns void
language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  update webhook_queue set due_at = due_at - by where merchant_id = merchant;
  -- What is queued is what has a time, and a few beside the history.
  update webhook_deliveries d
  set next_retry_at = d.next_retry_at - by
  from webhook_queue q
  where q.merchant_id = merchant and d.merchant_id = q.merchant_id and d.id = q.delivery_id;
  update payment_consents
  set expires_at = expires_at - by, valid_to = valid_to - by
  where merchant_id = merchant
    and (status = 'AWAITING_AUTHORISATION' or status = 'AUTHORISED' and consent_type = 'VARIABLE_RECURRING');
  update payment_intents
  set settle_at = settle_at - by, locked_until = locked_until - by
  where merchant_id = merchant
    and (status = 'Authorised' or under_mandate and status in ('Initiated', 'AwaitingAuthorisation'));
  update payment_refunds set resume_at = resume_at - by where merchant_id = merchant and status = 'PENDING';
  update disputes set evidence_due_at = evidence_due_at - by where merchant_id = merchant and status = 'OPEN';
  -- The overlap of a secret's rotation ends in the merchant's own time.
  update merchants
  set webhook_secret_previous_expires_at = webhook_secret_previous_expires_at - by
  where id = merchant and webhook_secret_previous_expires_at is not null;
  -- What was planned of a replay has moved with the queue.
  update merchants
  set webhook_replays_until = webhook_replays_until - by
  where id = merchant and webhook_replays_until is not null;
end
$$;
