-- What a console of operators reads (src/console): the feed of all merchants in its order, and what was settled in a time.
-- Building the first two makes writes to their tables wait. Where that is too long, they are built beforehand by hand with
-- `create index concurrently` under the same names, and are then passed over here.

-- The order of decision 56 over all merchants, as 0011 has it within each: a stream goes on behind its cursor.
create index if not exists webhook_deliveries__feed on webhook_deliveries (feed_xid, feed_ordinal);

-- What was settled since a moment. One entry for each settled payment, in a table that only grows.
create index if not exists payment_events__settled on payment_events (merchant_id, created_at) where new_status = 'Settled';

-- The open disputes of all merchants, and those of one: few beside the history.
create index if not exists disputes__status on disputes (status, created_at) where status in ('OPEN', 'UNDER_REVIEW', 'ESCALATED');

-- The merchants that wait for a decision.
create index if not exists merchants__pending on merchants (created_at) where kyb_status = 'PENDING';

-- Tells consoles to look again at what no event announces. The channel is that of db/wake.ts; the names are no job's.
create function tell_consoles() returns trigger
language plpgsql
as $$
begin
  perform pg_notify('svc_wake', 'console:' || tg_argv[0]);
  return null;
end
$$;

-- Columns that payments and deliveries never write: NOTIFY makes commits wait for each other.
create trigger tell_consoles after insert or update of
  kyb_status, is_active, payout_held, fee_percentage, fee_flat, legal_name, trading_name, realm_slug, webhook_url, paused_webhook_url
  on merchants for each statement execute function tell_consoles('merchants');
create trigger tell_consoles after insert or update of status, warnings, failure, invited_at
  on registration for each statement execute function tell_consoles('merchants');
create trigger tell_consoles after insert on operator_actions
  for each statement execute function tell_consoles('audit');
create trigger tell_consoles after insert or update of status, merchant_evidence, evidence_missing, assignee
  on disputes for each statement execute function tell_consoles('disputes');
