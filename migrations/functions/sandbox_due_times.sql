-- Everything that waits for a time: the job that handles it, and when.
create or replace function sandbox_due_times(merchant uuid, customers uuid[]) returns table (job text, due_at timestamptz)
language sql stable
set search_path = public, pg_temp
as $$
  select 'deliver-webhooks', q.due_at from webhook_queue q where q.merchant_id = merchant
  union all
  select 'expire-consents', c.expires_at
  from payment_consents c
  where c.merchant_id = merchant and c.status = 'AWAITING_AUTHORISATION'
  union all
  select 'expire-mandates', c.expires_at
  from payment_consents c
  where c.merchant_id = merchant and c.status = 'AUTHORISED' and c.consent_type = 'VARIABLE_RECURRING'
  union all
  select 'end-mandates', c.revocation_due_at
  from payment_consents c
  where c.merchant_id = merchant and c.revocation_due_at is not null
  union all
  select 'pay-mandates', greatest(p.created_at, p.settle_at, p.locked_until)
  from payment_intents p
  where p.merchant_id = merchant and p.under_mandate and p.status in ('Initiated', 'AwaitingAuthorisation')
  union all
  select 'settle-payments', p.settle_at
  from payment_intents p
  where p.merchant_id = merchant and p.status = 'Authorised' and (p.locked_until is null or p.locked_until <= now())
  union all
  select 'resume-refunds', r.resume_at from payment_refunds r where r.merchant_id = merchant and r.status = 'PENDING'
  union all
  select 'expire-evidence', d.evidence_due_at from disputes d where d.merchant_id = merchant and d.status = 'OPEN'
  union all
  -- Only what is in the kept balances has a period.
  (select 'keep-balances', now() from ledger_unfolded u where u.merchant_id = merchant limit 1)
  union all
  select 'close-settlements', s.due_at from open_settlements s where s.merchant_id = merchant and s.due_at is not null
  union all
  select 'create-payouts', greatest(v.due_at, now())
  from payout_payees v
  join ledger_balances b
    on b.merchant_id = v.merchant_id and b.currency = v.currency and b.account = 'merchant_payable'
  where v.merchant_id = merchant and v.due_at < 'infinity' and b.balance > 0 and b.balance = round(b.balance, 2)
  union all
  select 'send-payouts', p.next_attempt_at
  from payouts p
  join merchants m on m.id = p.merchant_id
  where p.merchant_id = merchant and p.connector <> 'file'
    and (p.status = 'SENT' or p.status = 'CREATED' and m.kyb_status = 'APPROVED' and m.is_active and not m.payout_held)
  union all
  select 'collect-payout-returns', b.created_at
  from mock_bank.payouts b
  join payouts p on p.merchant_id = b.merchant_id and p.id = b.payout_id and p.status in ('SENT', 'PAID')
  where b.merchant_id = merchant and b.will_return
  union all
  select 'run-recurring', greatest(r.next_run_at, r.retry_at)
  from recurring_payments r
  where r.customer_id = any (customers) and r.next_run_at is not null
  union all
  select 'execute-orders', coalesce(o.locked_until, o.created_at)
  from payment_orders o
  where o.customer_id = any (customers) and o.status in ('Pending', 'AcceptedSettlementInProcess')
    and (o.locked_until is null or o.locked_until <= now())
  union all
  select 'expire-requests', r.expires_at
  from payment_requests r
  where r.status = 'Sent' and (r.customer_id = any (customers) or r.counterparty_id = any (customers))
$$;
