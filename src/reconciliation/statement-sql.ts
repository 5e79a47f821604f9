import { sql } from '../db/sql.ts'
import type { FragmentSqlToken } from 'slonik'
import { knownOf } from '../statements/known-sql.ts'
import { during, executedRefunds, merchantsIn, settledPayments } from './scope-sql.ts'
import type { Check, Scope } from './scope-sql.ts'

/** A bank books within days, and an operator looks at what it has booked within fewer. */
const LATE_DAYS = 10
const UNKNOWN_DAYS = 3

/** Without any, nothing else of a check is read: the first half of it is as much work as any check of payments. */
const hasStatements = sql.fragment`exists (select from bank_statement_lines)`

/** That a bank should have booked what it got then, which is an age, and so in the time of the merchant `m`. */
function isLate(sentAt: FragmentSqlToken, { asOf }: Scope): FragmentSqlToken {
  return sql.fragment`sandbox_moved_moment(m.id, ${sentAt}) <= ${asOf}::timestamptz - make_interval(days => ${LATE_DAYS})`
}

/** The day of a moment as banks write it. */
function londonDay(moment: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`(${moment} at time zone 'Europe/London')::date`
}

/** That a line `l` has paid what has the form of an id of ours, or of its beginning, and takes back no earlier line. */
const isOwnDebit = sql.fragment`(l.direction = 'DEBIT' and not l.is_reversal and l.named_id is not null)`

/** Open lines that name an id which is known here, of one kind, each with what an operator does about it. */
function knownLines(scope: Scope, isOfKind: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`
    select known.merchant_id, l.id::text as subject, known.payment_id, l.currency, null::numeric as expected,
      l.amount as found, known.cause
    from bank_statement_lines l
    cross join lateral ${knownOf}
    join ${merchantsIn(scope)} m on m.id = known.merchant_id
    where l.matched_by is null and ${isOfKind} and ${during(sql.fragment`l.created_at`, scope)}
  `
}

/** What bank statements can disagree with. */
export const STATEMENT_CHECKS = {
  FILE_REFUND: {
    cause:
      'no bank statement has the refund that a file took to the bank: the bank did not make it, or a statement is missing',
    query: (scope) => sql.fragment`
      select r.merchant_id, r.id::text as subject, r.payment_intent_id as payment_id, p.currency, r.amount as expected,
        null::numeric as found
      from ${merchantsIn(scope)} m
      join payment_refunds r on r.merchant_id = m.id and r.sent_at is not null and ${during(sql.fragment`r.sent_at`, scope)}
      join payment_intents p on p.merchant_id = r.merchant_id and p.id = r.payment_intent_id
      where (r.status = 'EXECUTED' or (r.status = 'PENDING' and ${isLate(sql.fragment`r.sent_at`, scope)}))
        and not exists (
          select from bank_statement_lines l
          where l.merchant_id = r.merchant_id and l.refund_id = r.id and l.direction = 'DEBIT'
        )
    `,
  },
  FILE_PAYOUT: {
    cause:
      'no bank statement has the payout that a file took to the bank, or its return: the bank did not make it, or a statement is missing',
    query: (scope) => sql.fragment`
      select p.merchant_id, p.id::text as subject, null::uuid as payment_id, p.currency, p.amount as expected,
        null::numeric as found
      from ${merchantsIn(scope)} m
      join payouts p on p.merchant_id = m.id and p.connector = 'file' and ${during(sql.fragment`p.sent_at`, scope)}
      join (values ('DEBIT', 'PAID'), ('DEBIT', 'RETURNED'), ('DEBIT', 'SENT'), ('CREDIT', 'RETURNED')) due (direction, status)
        on due.status = p.status::text
      where (p.status <> 'SENT' or ${isLate(sql.fragment`p.sent_at`, scope)})
        and not exists (
          select from bank_statement_lines l
          where l.merchant_id = p.merchant_id and l.payout_id = p.id and l.direction = due.direction
        )
    `,
  },
  STATEMENT_LINE_MISSING: {
    cause: 'no bank statement has the payment, or the refund: the bank did not book it, or a statement is missing',
    query: (scope) => sql.fragment`
      select moved.merchant_id, moved.subject::text, moved.payment_id, moved.currency, moved.amount as expected,
        null::numeric as found
      from (
        select p.merchant_id, p.id as subject, p.id as payment_id, p.currency, p.gross_amount as amount,
          event.created_at as moved_at, null::uuid as refund_id
        from ${settledPayments(scope)}
        where ${hasStatements} and p.bank_connector <> 'mock'
        union all
        select r.merchant_id, r.id, p.id, p.currency, r.amount, r.updated_at, r.id
        from ${executedRefunds(scope)}
        where ${hasStatements} and p.bank_connector <> 'mock' and r.end_to_end_id is null
      ) moved
      -- Statements were imported of the days before and after it.
      join lateral (
        select min(l.booked_on) as first, max(l.booked_on) as last from bank_statement_lines l
        where l.currency = moved.currency
      ) known on known.first <= ${londonDay(sql.fragment`moved.moved_at`)}
        and known.last >= ${londonDay(sql.fragment`moved.moved_at`)} + ${LATE_DAYS}::integer
      where not exists (
        select from bank_statement_lines l
        where l.merchant_id = moved.merchant_id and l.payment_id = moved.payment_id
          and l.refund_id is not distinct from moved.refund_id
      )
    `,
  },
  STATEMENT_LINE_OF_FAILED: {
    cause: 'the bank has booked a payment, a refund or a payout that has failed here',
    hasOwnCause: true,
    query: (scope) => knownLines(scope, sql.fragment`known.is_of_failed`),
  },
  STATEMENT_DEBIT_KNOWN: {
    cause: 'the bank has paid under an id of a payout, refund or payment here, and no rule has matched it',
    hasOwnCause: true,
    query: (scope) => knownLines(scope, sql.fragment`not known.is_of_failed and l.direction = 'DEBIT'`),
  },
  STATEMENT_CREDIT_KNOWN: {
    cause: 'the bank has got money under an id of a payout, refund or payment here, and no rule has matched it',
    hasOwnCause: true,
    query: (scope) => knownLines(scope, sql.fragment`not known.is_of_failed and l.direction = 'CREDIT'`),
  },
  STATEMENT_DEBIT_UNKNOWN: {
    cause:
      'the bank has paid what has the form of an id of this service and is none here: forgotten when a back-up was restored, and about to be paid again',
    isOfAllOnly: true,
    query: (scope) => sql.fragment`
      select null::uuid as merchant_id, l.id::text as subject, null::uuid as payment_id, l.currency,
        null::numeric as expected, -l.amount as found
      from bank_statement_lines l
      where l.matched_by is null and ${isOwnDebit} and ${during(sql.fragment`l.created_at`, scope)}
        and not exists (select from ${knownOf})
    `,
  },
  STATEMENT_LINE_UNKNOWN: {
    cause: 'the bank has booked what is no payment, refund or payout here: it is to be explained by hand',
    isOfAllOnly: true,
    query: (scope) => sql.fragment`
      select null::uuid as merchant_id, l.id::text as subject, null::uuid as payment_id, l.currency,
        null::numeric as expected, case l.direction when 'CREDIT' then l.amount else -l.amount end as found
      from bank_statement_lines l
      where l.matched_by is null and ${during(sql.fragment`l.created_at`, scope)}
        and l.booked_on <= ${londonDay(sql.fragment`${scope.asOf}::timestamptz`)} - ${UNKNOWN_DAYS}::integer
        and not ${isOwnDebit} and not exists (select from ${knownOf})
    `,
  },
  REFUND_RETURN: {
    cause: "the bank has returned a refund, and its amount is not in the merchant's balance yet",
    query: (scope) => sql.fragment`
      select l.merchant_id, l.id::text as subject, l.payment_id, l.currency, l.amount as expected, c.amount as found
      from ${merchantsIn(scope)} m
      join bank_statement_lines l on l.merchant_id = m.id and l.refund_id is not null and l.direction = 'CREDIT'
        and ${during(sql.fragment`l.matched_at`, scope)}
      left join corrections c on c.merchant_id = l.merchant_id and c.refund_id = l.refund_id and c.currency = l.currency
      where l.amount is distinct from c.amount
    `,
  },
  STATEMENT_LINE: {
    cause: 'the payment, refund or payout, or the line of the statement, was changed after they were matched',
    query: (scope) => sql.fragment`
      select l.merchant_id, l.id::text as subject, l.payment_id, l.currency,
        coalesce(r.amount, p.gross_amount, o.amount) as expected, l.amount as found
      from ${merchantsIn(scope)} m
      join bank_statement_lines l on l.merchant_id = m.id and ${during(sql.fragment`l.matched_at`, scope)}
      left join payment_intents p on p.merchant_id = l.merchant_id and p.id = l.payment_id
      left join payment_refunds r on r.merchant_id = l.merchant_id and r.id = l.refund_id
      left join payouts o on o.merchant_id = l.merchant_id and o.id = l.payout_id
      where l.amount is distinct from coalesce(r.amount, p.gross_amount, o.amount)
        or l.currency is distinct from coalesce(p.currency, o.currency)
        or o.status = 'FAILED' or r.status = 'FAILED'
    `,
  },
} as const satisfies Record<string, Check>
