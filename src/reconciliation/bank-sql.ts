import { sql } from '../db/sql.ts'
import { during, executedRefunds, merchantsIn, settledPayments } from './scope-sql.ts'
import type { Check } from './scope-sql.ts'

/** What payments, refunds and disputes can disagree with in the mock bank's books. */
export const BANK_CHECKS = {
  BANK_DEBIT: {
    cause: 'the bank did not take this amount from the payer',
    query: (scope) => sql.fragment`
      select p.merchant_id, p.id::text as subject, p.id as payment_id, p.currency, p.gross_amount as expected,
        d.amount as found
      from ${settledPayments(scope)}
      left join mock_bank.bank_debits d on d.payment_id = p.id and d.currency = p.currency
      where p.bank_connector = 'mock' and p.gross_amount is distinct from d.amount
    `,
  },
  BANK_DEBIT_OF_FAILED: {
    cause: 'the bank took the money of a payment that has failed: the payer is owed a refund',
    query: (scope) => sql.fragment`
      select p.merchant_id, p.id::text as subject, p.id as payment_id, p.currency, null::numeric as expected,
        d.amount as found
      from ${merchantsIn(scope)} m
      cross join lateral (
        select * from payment_intents p
        where p.merchant_id = m.id and p.status = 'Failed' and ${during(sql.fragment`p.created_at`, scope)}
      ) p
      join mock_bank.bank_debits d on d.payment_id = p.id
      -- An operator has said whose the money is (decision 278).
      where not exists (
        select from operator_actions a
        where a.merchant_id = m.id and a.action = 'payment.resolve' and a.subject_id = p.id::text
          and a.after->>'outcome' in ('RETURNED', 'CREDITED')
      )
    `,
  },
  BANK_CREDIT: {
    cause: 'the bank did not give this amount back to the payer',
    query: (scope) => sql.fragment`
      select r.merchant_id, r.id::text as subject, p.id as payment_id, p.currency, r.amount as expected, c.amount as found
      from ${executedRefunds(scope)}
      left join mock_bank.bank_credits c on c.refund_id = r.id and c.currency = p.currency
      where p.bank_connector = 'mock' and r.end_to_end_id is null and r.amount is distinct from c.amount
    `,
  },
  BANK_CREDIT_UNKNOWN: {
    cause: 'the bank gave money back for a refund that has failed, was removed, or has been reserved for a day',
    query: (scope) => sql.fragment`
      select p.merchant_id, c.refund_id::text as subject, p.id as payment_id, p.currency, null::numeric as expected,
        c.amount as found
      from mock_bank.bank_credits c
      join payment_intents p on p.end_to_end_id = c.end_to_end_id
      join ${merchantsIn(scope)} m on m.id = p.merchant_id
      left join payment_refunds r on r.merchant_id = p.merchant_id and r.id = c.refund_id and r.payment_intent_id = p.id
      where ${during(sql.fragment`c.created_at`, scope)} and case r.status
        when 'EXECUTED' then false
        when 'PENDING' then c.created_at < ${scope.asOf}::timestamptz - interval '1 day'
        else true
      end
    `,
  },
  SETTLED_AFTER_FAILURE: {
    cause:
      'the bank reported that it settled the payment after the payment had failed: the payer is owed it, or the merchant',
    query: (scope) => sql.fragment`
      select u.merchant_id, u.payment_id::text as subject, u.payment_id, p.currency, null::numeric as expected,
        p.gross_amount as found
      from ${merchantsIn(scope)} m
      join unanswered_payments u on u.merchant_id = m.id and u.bank_reference is not null
        and ${during(sql.fragment`u.since`, scope)}
      join payment_intents p on p.merchant_id = u.merchant_id and p.id = u.payment_id
    `,
  },
  DISPUTE_REFUND: {
    cause:
      'the refund of the dispute, its entry of the ledger or what the bank gave back for it was changed or removed',
    query: (scope) => sql.fragment`
      select d.merchant_id, d.id::text as subject, p.id as payment_id, p.currency, given.expected, given.found
      from ${merchantsIn(scope)} m
      join disputes d on d.merchant_id = m.id and ${during(sql.fragment`d.resolved_at`, scope)}
      join payment_intents p on p.merchant_id = d.merchant_id and p.id = d.payment_intent_id
      left join payment_refunds r
        on r.merchant_id = d.merchant_id and r.id = d.refund_id and r.payment_intent_id = p.id and r.dispute_id = d.id
      left join ledger_entries e
        on e.merchant_id = d.merchant_id and e.subject_id = d.refund_id and e.movement = 'dispute_refunded'
      left join mock_bank.bank_credits c on c.refund_id = d.refund_id
      cross join lateral (
        select case when r.status = 'EXECUTED' then r.amount end as expected, e.amount as found
        union
        select r.amount, c.amount
        where r.status = 'EXECUTED' and p.bank_connector = 'mock' and r.end_to_end_id is null
        union
        -- A refund that names the dispute, and that the dispute does not name.
        select null, other.amount
        from payment_refunds other
        where other.merchant_id = d.merchant_id and other.dispute_id = d.id and other.status <> 'FAILED'
          and other.id is distinct from d.refund_id
      ) given
      where given.expected is distinct from given.found or d.refund_id is not null and r.id is null
    `,
  },
} as const satisfies Record<string, Check>
