-- Posts any number of movements to the ledger, in the transaction of what moved the money. The only writer of entries. It
-- takes no lock that a payment could wait for: rows are only added.
--
-- A movement is posted once: a repeat changes nothing, and one with another amount, currency or account is rejected.
-- Returns the number of entries that are new.
-- needs: functions/ledger_entry_hash
create or replace function post_ledger(postings ledger_posting[]) returns integer
language plpgsql
security definer
strict
set search_path = public, pg_temp
as $$
declare
  posted integer;
  wrong record;
begin
  with entry as (
    insert into ledger_entries (
      ordinal, merchant_id, movement, subject_id, debit, credit, amount, currency, created_at, entry_hash
    )
    select n.ordinal, n.merchant_id, n.movement, n.subject_id, n.debit, n.credit, n.amount, n.currency, now(),
      ledger_entry_hash(row(
        n.ordinal, n.merchant_id, n.movement, n.subject_id, n.debit, n.credit, n.amount, n.currency, now(), null
      )::ledger_entries)
    from (
      select nextval('ledger_entries_ordinal_seq') as ordinal, p.merchant_id, p.movement, p.subject_id, p.debit, p.credit,
        -- The column would round further digits off; null is rejected.
        case when p.amount = round(p.amount, 4) then p.amount::numeric(19, 4) end as amount, p.currency
      -- In a subquery, because PostgreSQL plans the statement again for each array that it knows.
      from unnest((select postings)) p
      join merchants m on m.id = p.merchant_id
      -- Every transaction takes the unique keys in the same order, so that two of them cannot deadlock.
      order by p.merchant_id, p.subject_id, p.movement
    ) n
    on conflict on constraint ledger_entries__once do nothing
    returning merchant_id, ordinal
  )
  insert into ledger_unfolded (merchant_id, ordinal) select merchant_id, ordinal from entry;
  get diagnostics posted = row_count;
  if posted = cardinality(postings) then return posted; end if;
  select p.* into wrong
  from unnest(postings) p
  left join ledger_entries e
    on e.merchant_id = p.merchant_id and e.subject_id = p.subject_id and e.movement = p.movement
  where (e.debit, e.credit, e.amount, e.currency) is distinct from (p.debit, p.credit, p.amount, p.currency)
  limit 1;
  if found then
    raise exception 'the movement % of % was posted otherwise, or there is no merchant %',
      wrong.movement, wrong.subject_id, wrong.merchant_id using errcode = 'integrity_constraint_violation';
  end if;
  return posted;
end
$$;

revoke execute on function post_ledger(ledger_posting[]) from public;
grant execute on function post_ledger(ledger_posting[]) to svc_runtime;
