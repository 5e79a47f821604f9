import { sql } from '../db/sql.ts'
import type { Invariant } from './invariant.ts'
import { rowsOf } from './part-sql.ts'

/** What holds of the ledger and of the bank's accounts, beside what the reconciliation compares. */
export const MONEY_INVARIANTS = {
  LEDGER_HASH: {
    rule: 'the hash of an entry of the ledger is right',
    action: 'svc audit verify --chain ledger_entries: the entry was changed behind the service',
    source: 'entries',
    query: (part) => sql.fragment`
      select e.ordinal::text as subject from ${rowsOf('entries', 'n', part)}
      join ledger_entries e on e.ordinal = n.ordinal
      where e.entry_hash <> ledger_entry_hash(e)
    `,
  },
  ACCOUNT_BOOKINGS: {
    rule: 'the balance of an account is what transfers booked on it, without gaps',
    action: 'svc sandbox books: a booking or a balance was changed behind the service',
    source: 'accounts',
    query: (part) => sql.fragment`
      select distinct e.id::text as subject from (
        select a.id, a.balance_minor as kept, a.transaction_count, a.overdraft_limit_minor, t.number, t.balance_minor,
          case t.credit_debit_indicator when 'Credit' then t.amount_minor else -t.amount_minor end as change,
          t.booking_date_time, row_number() over w as n, count(t.number) over (partition by a.id) as count,
          lag(t.balance_minor, 1, 0::bigint) over w as before, lag(t.booking_date_time, 1, '-infinity') over w as earlier,
          f.id as transfer_id
        from ${rowsOf('accounts', 'a', part)}
        left join transactions t on t.account_id = a.id
        left join transfers f on f.id = t.transfer_id
        window w as (partition by a.id order by t.number)
      ) e
      where e.number <> e.n or e.balance_minor <> e.before + e.change or e.booking_date_time < e.earlier
        or e.transaction_count <> e.count or e.kept < -e.overdraft_limit_minor
        or (e.number is not null and e.transfer_id is null)
        or (coalesce(e.number, 0) = e.transaction_count and e.kept <> coalesce(e.balance_minor, 0))
    `,
  },
  TRANSFER_BOOKINGS: {
    rule: 'a transfer is booked once on each of its sides',
    action: 'svc sandbox books: a booking or a transfer was changed behind the service',
    source: 'transfers',
    query: (part) => sql.fragment`
      select t.id::text as subject from ${rowsOf('transfers', 't', part)}
      cross join lateral (values (t.debtor_account_id, 'Debit'), (t.creditor_account_id, 'Credit')) s (account_id, side)
      left join accounts a on a.id = s.account_id
      cross join lateral (
        select count(*) as n, count(*) filter (where b.account_id is not distinct from s.account_id
          and b.amount_minor = t.amount_minor and b.booking_date_time = t.booked_at) as fitting
        from transactions b where b.transfer_id = t.id and b.credit_debit_indicator = s.side
      ) b
      where b.n <> b.fitting or b.n <> case when s.account_id is null then 0 else 1 end
        or s.account_id is not null and a.currency is distinct from t.currency
    `,
  },
  SETTLEMENT_OVERDUE: {
    rule: 'an authorised payment is executed when it is due',
    action: 'svc doctor: is a worker running, and does the bank answer?',
    query: ({ graceMs }) => sql.fragment`
      select id::text as subject from payment_intents
      where status = 'Authorised' and settle_at < now() - ${graceMs} * interval '1 millisecond'
    `,
  },
  REFUND_OVERDUE: {
    rule: 'a refund that the bank has not answered is asked about again when it is due',
    action: 'svc doctor: is a worker running, and does the bank answer?',
    query: ({ graceMs }) => sql.fragment`
      select id::text as subject from payment_refunds
      where status = 'PENDING' and resume_at < now() - ${graceMs} * interval '1 millisecond'
    `,
  },
  CONSENT_OVERDUE: {
    rule: 'a consent that was not authorised expires when it is due',
    action: 'svc doctor: is a worker running?',
    query: ({ graceMs }) => sql.fragment`
      select id::text as subject from payment_consents
      where status = 'AWAITING_AUTHORISATION' and expires_at < now() - ${graceMs} * interval '1 millisecond'
    `,
  },
} as const satisfies Record<string, Invariant>
