-- Removes webhooks from before a moment, with their attempts, and counts them at their payments: what is left of a payment
-- is numbered from the next (decision 370). One that is queued stays, and so do the later ones of its payment. So does the
-- newest event of all, which a restored feed continues from (functions/continue_feed.sql).
--
-- The caller has no right to delete: nothing younger than 30 days can be removed.
create or replace function remove_webhooks(before timestamptz, rows_max integer) returns integer
language plpgsql
security definer
set search_path = public, pg_temp
as $$
declare
  newest uuid := (select d.id from webhook_deliveries d order by d.feed_xid desc, d.feed_ordinal desc limit 1);
  removed integer := 0;
  merchant uuid;
  payments uuid[];
  candidates uuid[];
  count_here integer;
begin
  if before > now() - interval '30 days' then
    raise exception 'webhooks are kept for 30 days' using errcode = 'insufficient_privilege';
  end if;
  for merchant in
    select m.id from merchants m
    where exists (select from webhook_deliveries d where d.merchant_id = m.id and d.created_at < before)
  loop
    payments := array(
      select distinct d.payment_intent_id
      from (
        select o.payment_intent_id from webhook_deliveries o
        where o.merchant_id = merchant and o.created_at < before
          and not exists (select from webhook_queue q where q.merchant_id = merchant and q.delivery_id = o.id)
        order by o.created_at, o.id
        limit rows_max - removed
      ) d
    );
    -- A payment that is locked gets its next webhook just now. Without one are events that concern no payment.
    perform from payment_intents p
      where p.merchant_id = merchant and p.id = any (payments) order by p.id for update;
    -- One that is locked is being replayed, or scheduled for an endpoint.
    candidates := array(
      select d.id from webhook_deliveries d
      where d.merchant_id = merchant and d.payment_intent_id = any (payments) and d.created_at < before
      order by d.id
      for update skip locked
    ) || array(
      select d.id from webhook_deliveries d
      where array_position(payments, null) is not null and d.merchant_id = merchant and d.payment_intent_id is null
        and d.created_at < before
      order by d.created_at, d.id
      limit rows_max - removed
      for update skip locked
    );
    -- Only now, behind the locks, is it certain which of them are queued.
    candidates := array(
      with kept as materialized (
        select d.payment_intent_id, min(d.sequence) as first
        from webhook_deliveries d
        where d.merchant_id = merchant and d.payment_intent_id = any (payments)
          and (
            d.id = newest or d.id <> all (candidates)
            or exists (select from webhook_queue q where q.merchant_id = merchant and q.delivery_id = d.id)
          )
        group by 1
      )
      select d.id from webhook_deliveries d
      left join kept k on k.payment_intent_id = d.payment_intent_id
      where d.merchant_id = merchant and d.id = any (candidates) and d.id <> newest
        and (k.first is null or d.sequence < k.first)
        and not exists (select from webhook_queue q where q.merchant_id = merchant and q.delivery_id = d.id)
    );
    delete from webhook_attempts a where a.merchant_id = merchant and a.delivery_id = any (candidates);
    delete from webhook_waiting w where w.merchant_id = merchant and w.delivery_id = any (candidates);
    with gone as (
      delete from webhook_deliveries d where d.merchant_id = merchant and d.id = any (candidates)
      returning d.payment_intent_id
    ),
    counted as (
      update payment_intents p set webhooks_removed = p.webhooks_removed + g.n
      from (select payment_intent_id as id, count(*)::integer as n from gone where payment_intent_id is not null group by 1) g
      where p.merchant_id = merchant and p.id = g.id
    )
    select count(*) into count_here from gone;
    removed := removed + count_here;
    exit when removed >= rows_max;
  end loop;
  return removed;
end
$$;

revoke execute on function remove_webhooks(timestamptz, integer) from public;
grant execute on function remove_webhooks(timestamptz, integer) to svc_runtime;
