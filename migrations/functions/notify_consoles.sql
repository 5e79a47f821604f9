-- Notifies consoles of changes that no event announces. The channel is that of db/wake.ts; no job has such a name. The
-- triggers name only columns that payments and deliveries never write, because NOTIFY makes commits wait for each
-- other.
create or replace function notify_consoles() returns trigger
language plpgsql
as $$
begin
  perform pg_notify('svc_wake', 'console:' || tg_argv[0]);
  return null;
end
$$;

create or replace trigger notify_consoles after insert or update of
  kyb_status, is_active, payout_held, fee_percentage, fee_flat, legal_name, trading_name, realm_slug, webhook_url, paused_webhook_url
  on merchants for each statement execute function notify_consoles('merchants');
create or replace trigger notify_consoles after insert or update of status, warnings, failure, invited_at
  on registration for each statement execute function notify_consoles('merchants');
create or replace trigger notify_consoles after insert on operator_actions
  for each statement execute function notify_consoles('audit');
create or replace trigger notify_consoles after insert or update of status, merchant_evidence, evidence_missing, assignee
  on disputes for each statement execute function notify_consoles('disputes');
