import type { FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'
import { during, entries, merchantsIn } from './scope-sql.ts'
import type { Check, Scope } from './scope-sql.ts'

const MOVEMENTS = [
  'payout_sent',
  'payout_paid',
  'payout_failed',
  'payout_returned',
  'debt_deducted',
  'debt_restored',
] as const

/** Payouts `p` that were created in the time. */
function payouts(scope: Scope): FragmentSqlToken {
  return sql.fragment`
    ${merchantsIn(scope)} m
    join payouts p on p.merchant_id = m.id and ${during(sql.fragment`p.created_at`, scope)}
  `
}

/** What payouts can disagree with: the ledger, the settlements that they pay, and the mock bank's books. */
export const PAYOUT_CHECKS = {
  PAYOUT_LEDGER: {
    cause: 'the amount or the status of the payout was changed, or an entry of the ledger was changed or removed',
    query: (scope) => sql.fragment`
      select p.merchant_id, p.id::text as subject, null::uuid as payment_id, p.currency, due.amount as expected,
        e.amount as found
      from ${payouts(scope)}
      cross join lateral (
        values ('payout_sent'::ledger_movement, p.amount),
          ('payout_paid', case when p.status in ('PAID', 'RETURNED') then p.amount end),
          ('payout_failed', case when p.status = 'FAILED' then p.amount end),
          ('payout_returned', case when p.status = 'RETURNED' then p.amount end),
          ('debt_deducted', nullif(p.debt_deducted, 0)),
          ('debt_restored', case when p.status in ('FAILED', 'RETURNED') then nullif(p.debt_deducted, 0) end)
      ) due (movement, amount)
      left join ledger_entries e
        on e.merchant_id = p.merchant_id and e.subject_id = p.id and e.movement = due.movement
      where due.amount is distinct from e.amount or e.currency <> p.currency
    `,
  },
  LEDGER_WITHOUT_PAYOUT: {
    cause: 'the ledger has an entry of a payout that is not there: its row was removed',
    query: (scope) => sql.fragment`
      select e.merchant_id, e.subject_id::text as subject, null::uuid as payment_id, e.currency, null::numeric as expected,
        e.amount as found
      from ${entries(scope, MOVEMENTS)}
      where not exists (select from payouts p where p.merchant_id = e.merchant_id and p.id = e.subject_id)
    `,
  },
  SETTLEMENT_PAYOUT: {
    cause:
      'the payout does not pay what its settlements made payable: one of them was assigned, changed or removed by hand',
    query: (scope) => sql.fragment`
      select p.merchant_id, p.id::text as subject, null::uuid as payment_id, p.currency, settled.amount as expected,
        paid.amount as found
      from ${payouts(scope)}
      cross join lateral (
        select coalesce(sum(s.payable_amount), 0.0000) as amount from settlements s
        where s.merchant_id = p.merchant_id and s.payout_id = p.id and s.currency = p.currency
      ) settled
      -- Money that came back is left to the next payout, with its settlements.
      cross join lateral (select case when p.status in ('FAILED', 'RETURNED') then 0.0000 else p.amount + p.debt_deducted end as amount) paid
      where settled.amount <> paid.amount
    `,
  },
  BANK_PAYOUT: {
    cause: 'the bank did not transfer this amount for the payout, or transferred one that has failed',
    query: (scope) => sql.fragment`
      select p.merchant_id, p.id::text as subject, null::uuid as payment_id, p.currency, known.amount as expected,
        books.amount as found
      from ${payouts(scope)}
      cross join lateral (select case when p.status in ('PAID', 'RETURNED') then p.amount end as amount) known
      left join mock_bank.payouts b on b.payout_id = p.id and b.failure_code is null and b.currency = p.currency
      left join transfers t on t.id = p.id and t.currency = p.currency
      cross join lateral (values (b.amount), ((t.amount_minor::numeric / 100)::numeric(19, 4))) books (amount)
      -- Of what is SENT the answer is not known yet.
      where p.connector = 'mock' and p.status <> 'SENT' and known.amount is distinct from books.amount
    `,
  },
  BANK_PAYOUT_RETURN: {
    cause: 'the bank did not take the payout back',
    query: (scope) => sql.fragment`
      select p.merchant_id, p.id::text as subject, null::uuid as payment_id, p.currency, p.amount as expected,
        null::numeric as found
      from ${payouts(scope)}
      where p.connector = 'mock' and p.status = 'RETURNED'
        and not exists (select from mock_bank.payouts b where b.payout_id = p.id and b.returned_at is not null)
    `,
  },
  BANK_PAYOUT_UNKNOWN: {
    cause: 'the bank has made a transfer for a payout that is not there: its row was removed',
    query: (scope) => sql.fragment`
      select b.merchant_id, b.payout_id::text as subject, null::uuid as payment_id, b.currency, null::numeric as expected,
        b.amount as found
      from ${merchantsIn(scope)} m
      join mock_bank.payouts b on b.merchant_id = m.id and b.failure_code is null
        and ${during(sql.fragment`b.created_at`, scope)}
      where not exists (select from payouts p where p.merchant_id = b.merchant_id and p.id = b.payout_id)
    `,
  },
} as const satisfies Record<string, Check>
