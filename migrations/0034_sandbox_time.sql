-- Time travel for everything that waits for a time, of a merchant and of customers of the bank (decision 60). As before,
-- due times move into the past while every statement reads the real clock. What is counted by its age is not moved, for
-- its own time is told: how far it has moved is written down here instead.

-- Whose time has passed, when and by how much. Of a merchant or of a customer; in production there are no rows.
create table sandbox_clock_shifts (
  subject_id uuid not null,
  made_at timestamptz not null,
  moved_by interval not null check (moved_by > interval '0'),
  primary key (subject_id, made_at)
);
create index sandbox_clock_shifts__made_at on sandbox_clock_shifts (made_at);
grant select on sandbox_clock_shifts to svc_runtime;

-- How far a subject's time has moved since a moment; in all, since '-infinity'.
create function sandbox_clock_ahead(subject uuid, since timestamptz) returns interval
language sql stable
set search_path = public, pg_temp
as $$
  select coalesce(sum(s.moved_by), interval '0') from sandbox_clock_shifts s where s.subject_id = subject and s.made_at > since
$$;

-- Where a past moment lies by now: earlier by all the time that has passed since for its subject.
create function sandbox_moved_moment(subject uuid, moment timestamptz) returns timestamptz
language sql stable
set search_path = public, pg_temp
as $$
  select moment - sandbox_clock_ahead(subject, moment)
$$;

-- The other way round: the earliest real moment that lies at `moment` or later by now. What was made from then on counts
-- as made since `moment`. Between two shifts all moments have moved alike, so each such stretch is looked at.
create function sandbox_unmoved_moment(subject uuid, moment timestamptz) returns timestamptz
language sql stable
set search_path = public, pg_temp
as $$
  select coalesce(
    (
      select min(greatest(moment + stretch.ahead, stretch.begins_at))
      from (
        select s.made_at as ends_at, lag(s.made_at, 1, '-infinity') over (order by s.made_at) as begins_at,
          sum(s.moved_by) over (order by s.made_at desc) as ahead
        from sandbox_clock_shifts s
        where s.subject_id = subject
      ) stretch
      where greatest(moment + stretch.ahead, stretch.begins_at) < stretch.ends_at
    ),
    greatest(moment, (select max(s.made_at) from sandbox_clock_shifts s where s.subject_id = subject))
  )
$$;

-- A schedule keeps the calendar that was agreed, for a week is more than seven days of any length; its next run alone
-- stands in real time, by so much earlier.
alter table recurring_payments add column clock_ahead interval not null default interval '0';

drop function advance_sandbox_clock(uuid, interval);
drop function sandbox_due_times(uuid);

-- What waits for a time, when, and the job that does it.
create function sandbox_due_times(merchant uuid, customers uuid[]) returns table (job text, due_at timestamptz)
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
  select 'pay-mandates', coalesce(p.locked_until, p.created_at)
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

-- Moves what waits for a merchant's time. Payers belong to it whom no other merchant knows: nobody else's is moved.
create function advance_merchant_clock(merchant uuid, by interval) returns void
language plpgsql
set search_path = public, pg_temp
as $$
begin
  update webhook_queue set due_at = due_at - by where merchant_id = merchant;
  -- What is queued is what has a time, and a few beside the history.
  update webhook_deliveries d
  set next_retry_at = d.next_retry_at - by
  from webhook_queue q
  where q.merchant_id = merchant and d.merchant_id = q.merchant_id and d.id = q.delivery_id;
  -- The bank's own end of a mandate moves with ours.
  update mock_bank.authorisations a
  set mandate_valid_to = a.mandate_valid_to - by
  from payment_consents c
  where c.merchant_id = merchant and c.status = 'AUTHORISED' and c.consent_type = 'VARIABLE_RECURRING'
    and a.consent_reference = c.bank_consent_reference and a.mandate_valid_to is not null;
  update payment_consents
  set expires_at = expires_at - by, valid_to = valid_to - by
  where merchant_id = merchant
    and (status = 'AWAITING_AUTHORISATION' or status = 'AUTHORISED' and consent_type = 'VARIABLE_RECURRING');
  update payment_consents
  set revocation_due_at = revocation_due_at - by
  where merchant_id = merchant and revocation_due_at is not null;
  update payment_intents
  set settle_at = settle_at - by, locked_until = locked_until - by
  where merchant_id = merchant
    and (status = 'Authorised' or under_mandate and status in ('Initiated', 'AwaitingAuthorisation'));
  update payment_refunds set resume_at = resume_at - by where merchant_id = merchant and status = 'PENDING';
  update disputes set evidence_due_at = evidence_due_at - by where merchant_id = merchant and status = 'OPEN';
  -- The overlap of a secret's rotation ends in the merchant's own time, and what was planned of a replay has moved with
  -- the queue.
  update merchants
  set webhook_secret_previous_expires_at = webhook_secret_previous_expires_at - by,
    webhook_replays_until = webhook_replays_until - by
  where id = merchant and (webhook_secret_previous_expires_at is not null or webhook_replays_until is not null);
  -- Links of a payer, used ones too: they are counted by the hour and by the day.
  update payer_tokens t
  set created_at = t.created_at - by, expires_at = t.expires_at - by, used_at = t.used_at - by
  where t.expires_at > now() - interval '1 day'
    and exists (
      select from payment_consents c
      where c.merchant_id = merchant
        and case t.contact_type when 'EMAIL' then c.payer_email else c.payer_phone end = t.contact_normalised
    )
    and not exists (
      select from payment_consents c
      where c.merchant_id <> merchant and t.contact_type = 'EMAIL' and c.payer_email = t.contact_normalised
    )
    and not exists (
      select from payment_consents c
      where c.merchant_id <> merchant and t.contact_type = 'PHONE' and c.payer_phone = t.contact_normalised
    );
end
$$;

-- Moves what waits for the time of customers. A request to pay has two sides, and moves once.
create function advance_customer_clocks(customers uuid[], by interval) returns void
language plpgsql
set search_path = public, pg_temp
as $$
begin
  update recurring_payments
  set next_run_at = next_run_at - by, retry_at = retry_at - by, clock_ahead = clock_ahead + by
  where customer_id = any (customers) and next_run_at is not null;
  update payment_orders
  set locked_until = locked_until - by
  where customer_id = any (customers) and status in ('Pending', 'AcceptedSettlementInProcess') and locked_until is not null;
  update payment_requests
  set expires_at = expires_at - by
  where status = 'Sent' and (customer_id = any (customers) or counterparty_id = any (customers));
  -- Keys hold for a day.
  update order_keys set created_at = created_at - by where customer_id = any (customers);
end
$$;

-- Lets time pass for a merchant, where one is named, and for customers, all of them in one step.
create function advance_sandbox_clock(merchant uuid, customers uuid[], by interval) returns void
language plpgsql
security definer
set search_path = public, pg_temp
as $$
begin
  if merchant is not null then
    perform advance_merchant_clock(merchant, by);
  end if;
  perform advance_customer_clocks(customers, by);
  -- After all that was seen here, and before whatever is made next.
  insert into sandbox_clock_shifts (subject_id, made_at, moved_by)
  select subject, clock_timestamp(), by
  from (select distinct unnest(customers || merchant) as subject) s
  where subject is not null
  on conflict (subject_id, made_at) do update set moved_by = sandbox_clock_shifts.moved_by + excluded.moved_by;
end
$$;

revoke execute on function advance_merchant_clock(uuid, interval) from public;
revoke execute on function advance_customer_clocks(uuid[], interval) from public;
revoke execute on function advance_sandbox_clock(uuid, uuid[], interval) from public;
grant execute on function advance_sandbox_clock(uuid, uuid[], interval) to svc_runtime;
