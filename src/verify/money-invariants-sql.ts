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
  ACCOUNT_BALANCE: {
    rule: 'the balance of an account is that of its last booking, and within its overdraft',
    action: 'svc sandbox books: a booking or a balance was changed behind the service',
    source: 'accounts',
    query: (part) => sql.fragment`
      select a.id::text as subject from ${rowsOf('accounts', 'a', part)}
      left join lateral (
        select t.number, t.balance_minor from transactions t where t.account_id = a.id order by t.number desc limit 1
      ) last on true
      where a.balance_minor < -a.overdraft_limit_minor
        or (a.transaction_count, a.balance_minor) <> (coalesce(last.number, 0), coalesce(last.balance_minor, 0))
    `,
  },
  ACCOUNT_BOOKINGS: {
    rule: 'a booking of an account is of a transfer, and follows the one before it in number, time and balance',
    action: 'svc sandbox books: a booking was changed behind the service',
    source: 'bookings',
    // Each booking beside the one before, and not the account as a whole: one can have as many as there are payments.
    query: (part) => sql.fragment`
      select t.account_id || ' ' || t.number as subject from ${rowsOf('bookings', 't', part)}
      left join transfers f on f.id = t.transfer_id
      left join lateral (
        select b.number, b.balance_minor, b.booking_date_time from transactions b
        where b.account_id = t.account_id and b.number < t.number
        order by b.number desc
        limit 1
      ) before on true
      where f.id is null or t.number <> coalesce(before.number, 0) + 1 or t.booking_date_time < before.booking_date_time
        or t.balance_minor <> coalesce(before.balance_minor, 0)
          + case t.credit_debit_indicator when 'Credit' then t.amount_minor else -t.amount_minor end
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
  UNSETTLED_SINCE: {
    rule: 'a balance has the time of the oldest line without a settlement, by which its period is found',
    action: 'no settlement has these lines: ledger_kept_balances.unsettled_since was changed behind the service',
    query: () => sql.fragment`
      select k.merchant_id || ' ' || k.currency as subject from ledger_kept_balances k
      left join lateral (
        select l.occurred_at from settlement_lines l
        where l.merchant_id = k.merchant_id and l.currency = k.currency and l.settlement_id is null
        order by l.occurred_at
        limit 1
      ) oldest on true
      where k.unsettled_since is distinct from oldest.occurred_at
    `,
  },
  PERIOD_OVERDUE: {
    rule: 'a period with lines is closed by a settlement when it has ended',
    action: 'svc doctor: is a worker running? Its log says why a settlement stays open after its end',
    query: ({ graceMs }) => sql.fragment`
      select merchant_id || ' ' || currency as subject from open_settlements
      where due_at < now() - ${graceMs} * interval '1 millisecond'
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
