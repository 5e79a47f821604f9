-- Moves any number of payments from one status to the next in one statement: the guarded update, the consent's move,
-- the audit event and the webhook, all or nothing for each payment. No other statement changes a status; the caller's
-- transition table (payments/states.ts) decides which moves exist, and the check on payment_events asserts them again.
--
-- `outcome` is MOVED or STALE. A stale item changed nothing, and `status` is the one from when the statement began.
-- A mandate that is authorised gets its own expiry (decision 49). The account that the bank names replaces the one that the
-- merchant said (decision 413).
-- A payment that becomes Settled is posted to the ledger: its gross amount, and its fee.
-- needs: functions/first_attempt_at, functions/iso_text, functions/payment_envelope, functions/post_ledger
create or replace function move_payments(items json) returns table (ord bigint, outcome text, status payment_status, expires_at text)
language plpgsql
security definer
set search_path = public, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  with item as (
    select i.*, i.ordinality as ord
    from json_populate_recordset(null::payment_move, items) with ordinality as i
  ),
  -- Locks are taken in one order, so that two batches cannot deadlock.
  locked as materialized (
    select i.*, p.status as seen_status, c.status as consent_status, c.expires_at, c.debtor_bank_id, m.webhook_url
    from item i
    join payment_intents p on p.merchant_id = i.merchant_id and p.id = i.payment_id
    join payment_consents c on c.merchant_id = p.merchant_id and c.id = p.consent_id
    join merchants m on m.id = p.merchant_id
    order by p.merchant_id, p.id
    for update of p
  ),
  moved as (
    update payment_intents p
    set status = l.to_status::payment_status,
      failure_code = l.failure_code,
      failure_source = l.failure_source,
      bank_reference = coalesce(l.bank_reference, p.bank_reference),
      redirect_url = coalesce(l.redirect_url, p.redirect_url),
      settle_at = case
        when l.settle_seconds is not null then now() + make_interval(secs => l.settle_seconds)
        else p.settle_at
      end,
      locked_until = null,
      refunded_amount = p.refunded_amount + coalesce(l.refund_amount, 0),
      refund_reserved_amount = p.refund_reserved_amount - coalesce(l.refund_amount, 0),
      webhook_sequence = p.webhook_sequence + case when l.event_type is null then 0 else 1 end,
      updated_at = now()
    from locked l
    where p.merchant_id = l.merchant_id
      and p.id = l.payment_id
      and p.status = l.from_status::payment_status
      and (l.consent_to is null or l.consent_status = l.consent_from::consent_status)
      and case l.consent_window
        when 'open' then l.expires_at > now()
        when 'ended' then l.expires_at <= now()
        else true
      end
    returning l.*, p.consent_id, p.end_to_end_id, p.gross_amount, p.fee_amount, p.net_amount, p.currency, p.webhook_sequence, p.traceparent as payment_traceparent
  ),
  consent as (
    update payment_consents c
    set status = coalesce(m.consent_to::consent_status, c.status),
      bank_consent_reference = coalesce(m.bank_consent_reference, c.bank_consent_reference),
      debtor_account_scheme = coalesce(m.debtor_account_scheme::debtor_account_scheme, c.debtor_account_scheme),
      debtor_identification = coalesce(m.debtor_identification, c.debtor_identification),
      debtor_is_from_bank = c.debtor_is_from_bank or m.debtor_identification is not null,
      -- A mandate remains valid after its authorisation, until the agreed end.
      expires_at = case when m.consent_to = 'AUTHORISED' then coalesce(c.valid_to, c.expires_at) else c.expires_at end,
      updated_at = now()
    from moved m
    where c.merchant_id = m.merchant_id
      and c.id = m.consent_id
      and num_nonnulls(m.consent_to, m.bank_consent_reference, m.debtor_identification) > 0
  ),
  event as (
    insert into payment_events (id, merchant_id, payment_intent_id, previous_status, new_status, changed_by, raw_payload)
    select m.audit_id, m.merchant_id, m.payment_id, m.from_status::payment_status, m.to_status::payment_status,
      m.changed_by, m.raw_payload::json
    from moved m
  ),
  delivery as (
    insert into webhook_deliveries (
      id, merchant_id, payment_intent_id, event_id, event_type, payload, next_retry_at, sequence, traceparent
    )
    select m.delivery_id, m.merchant_id, m.payment_id, m.event_id, m.event_type,
      payment_envelope(
        m.event_id, m.event_type, m.payment_id, m.end_to_end_id, m.consent_id, m.merchant_id, m.gross_amount, m.fee_amount,
        m.net_amount, m.currency, m.to_status::payment_status, m.from_status::payment_status, m.debtor_bank_id,
        m.failure::text, m.refund::text, m.webhook_sequence, m.test
      ),
      first_attempt_at(m.webhook_url), m.webhook_sequence, coalesce(m.traceparent, m.payment_traceparent)
    from moved m
    where m.event_type is not null
  ),
  posted as (
    select post_ledger(array_agg(p.posting)) as count
    from moved m
    cross join lateral (
      values (m.gross_amount, row(m.merchant_id, 'payment_settled', m.payment_id, 'bank', 'clearing', m.gross_amount, m.currency)::ledger_posting),
        (m.fee_amount, row(m.merchant_id, 'fee_taken', m.payment_id, 'clearing', 'fees_earned', m.fee_amount, m.currency)::ledger_posting)
    ) p (amount, posting)
    where m.to_status = 'Settled' and p.amount > 0
  )
  select i.ord, case when m.ord is null then 'STALE' else 'MOVED' end,
    coalesce(m.to_status::payment_status, l.seen_status), iso_text(l.expires_at)
  from item i
  left join locked l on l.ord = i.ord
  left join moved m on m.ord = i.ord
  -- One row; a query that nothing refers to would not run.
  cross join posted;
end
$$;

revoke execute on function move_payments(json) from public;
grant execute on function move_payments(json) to svc_runtime;
