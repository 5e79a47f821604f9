-- needs: functions/keep_to_merchant
-- The second line behind the filters of statements: a request of one merchant acts as svc_merchant, and sees that
-- merchant's rows only, whatever its statement says (decision 360). The role has the rights of svc_runtime and no others.
do $$
begin
  if not exists (select from pg_roles where rolname = 'svc_merchant') then
    create role svc_merchant nologin;
  end if;
exception
  when duplicate_object or unique_violation then null;
end
$$;

-- Where an administrator has made and granted both, this login needs no right to do it.
do $$
begin
  if not pg_has_role('svc_merchant', 'svc_runtime', 'member') then
    grant svc_runtime to svc_merchant;
  end if;
end
$$;

-- As in 0001_roles.sql; and the logins that may act as svc_runtime already.
do $$
declare
  login name;
begin
  for login in
    select r.rolname from pg_roles r
    where not pg_has_role(r.oid, 'svc_merchant', 'member') and r.rolname <> 'svc_runtime'
      and (r.rolname = current_user or exists (
        select from pg_auth_members m where m.roleid = 'svc_runtime'::regrole and m.member = r.oid
      ))
  loop
    execute format('grant svc_merchant to %I', login);
  end loop;
exception
  when insufficient_privilege then null;
end
$$;

-- Tables of merchants.
select keep_to_merchant('merchants', 'id = {merchant}');
select keep_to_merchant(kept)
from unnest('{
  merchant_bank_accounts, merchant_client, team_members, registration, operator_actions, payment_consents,
  payment_intents, payment_events, payment_refunds, refund_events, unanswered_payments, webhook_deliveries, webhook_queue,
  webhook_lanes, webhook_waiting, webhook_attempts, disputes, dispute_events, ledger_entries, ledger_unfolded,
  ledger_kept_balances, bank_statement_lines, settlements, settlement_lines, settlement_sums, payouts, payout_events,
  corrections
}'::regclass[]) kept;
-- Mails of no merchant come from the identity provider, to people of a merchant, and from the bank, to its customers.
select keep_to_merchant('mails', written => 'merchant_id is null or merchant_id = {merchant}');
select keep_to_merchant('sandbox_clock_shifts', 'subject_id = {merchant}');
select keep_to_merchant(
  'token_cutoffs', 'realm_slug = (select m.realm_slug from merchants m where m.id = {merchant})'
);

-- Tables that no merchant's request reads: of operators, of payers, who are not of one merchant, and of the whole service.
select keep_to_merchant(kept, 'false')
from unnest('{
  registration_attempt, platform_users, platform_clients, audit_checkpoints, payer_link_requests, payer_tokens,
  payer_failed_verifications, payer_sessions_ended, bank_statements, payout_return_positions, payout_files, reconciliations,
  bank_software_statements, bank_tests, bank_outages, operator_alerts, operator_alert_messages, verifications,
  backup_verification
}'::regclass[]) kept;

-- Tables of the bank's customers (Surface A), whose requests have no merchant.
select keep_to_merchant(kept, '{merchant} is null')
from unnest('{
  customer_proxies, customer_clients, recurring_payments, payment_orders, order_keys, payment_requests, failed_look_ups
}'::regclass[]) kept;

-- A view shows what its reader may see, not what its owner may. So its reader may read the tables behind it.
grant select on ledger_sides, ledger_kept_balances to svc_runtime;
do $$
declare
  shown regclass;
begin
  for shown in select oid from pg_class where relkind = 'v' and relnamespace = 'public'::regnamespace loop
    execute format('alter view %s set (security_invoker = true)', shown);
  end loop;
end
$$;
