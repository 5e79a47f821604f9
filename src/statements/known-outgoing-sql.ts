import type { FragmentSqlToken } from 'slonik'
import { sql } from '../db/sql.ts'
import { isNamed } from './named-sql.ts'
import { correctCommand, inAll, namesakes, resolveCommand, sumInAll } from './namesakes-sql.ts'

/** Whether a payout or refund has a line in each direction. */
function linesOf(isLineOf: FragmentSqlToken): FragmentSqlToken {
  return sql.fragment`(
    select coalesce(bool_or(d.direction = 'DEBIT'), false) as has_debit, coalesce(bool_or(d.direction = 'CREDIT'), false) as has_credit
    from bank_statement_lines d
    where ${isLineOf}
  ) line`
}

/** The payouts and refunds by file that a line `l` names, as commands name them, and which lines they have. */
const named = sql.fragment`(
  select o.merchant_id, null::uuid as payment_id, 'payout ' || o.id as name, '--payout ' || o.id as flags,
    o.status = 'FAILED' as has_failed, o.status = 'CREATED' as is_waiting,
    (o.amount, o.currency) = (l.amount, l.currency) as is_whole, line.has_debit, line.has_credit
  from payouts o
  cross join lateral ${linesOf(sql.fragment`d.merchant_id = o.merchant_id and d.payout_id = o.id`)}
  where ${isNamed(sql.fragment`o.end_to_end_id`)}
  union all
  select r.merchant_id, p.id, 'refund ' || r.id, format('--payment %s --refund %s', p.id, r.id),
    r.status = 'FAILED', r.file_id is null, (r.amount, p.currency) = (l.amount, l.currency), line.has_debit, line.has_credit
  from payment_refunds r
  join payment_intents p on p.merchant_id = r.merchant_id and p.id = r.payment_intent_id
  cross join lateral ${linesOf(sql.fragment`d.merchant_id = r.merchant_id and d.refund_id = r.id`)}
  where ${isNamed(sql.fragment`r.end_to_end_id`)}
) m`

const take = correctCommand(sql.fragment`m.merchant_id`, '-')
const add = correctCommand(sql.fragment`m.merchant_id`, '')

/** Of one that has failed, whose money is in the merchant's balance or, of a refund, was not taken from it. */
const ofFailed = sql.fragment`case
  when same.is_uneven then format(
    '%s failed here, and came back with another amount than it left with: take at most %s, from the merchant''s balance (svc merchants correct), then %s',
    m.name, ${sumInAll(sql.fragment`same.stayed_away`)}, ${resolveCommand}
  )
  when same.debits + same.credits > 2 then format(
    '%s failed here, left %s times and came back %s times: take %s, from the merchant''s balance (svc merchants correct), then %s',
    m.name, same.debits, same.credits, ${inAll(sql.fragment`same.debits - same.credits`)}, ${resolveCommand}
  )
  when l.direction = 'DEBIT' and same.debits > same.credits then format(
    'the bank has made %s although it failed here: take it from the merchant''s balance (%s), then %s',
    m.name, ${take}, ${resolveCommand}
  )
  when l.direction = 'CREDIT' and same.explained > 0 then format(
    '%s failed here, and its money came back: add it again if its debit was taken from the merchant''s balance (%s), then %s',
    m.name, ${add}, ${resolveCommand}
  )
  else format('%s failed here, and its money came back: correct nothing; %s', m.name, ${resolveCommand})
end`

const ofDebit = sql.fragment`case
  when m.is_waiting then format(
    '%s waits here and would be paid again: bring its next file to no bank, then %s %s', m.name, ${resolveCommand}, m.flags
  )
  when same.credits >= same.debits and (l.is_reversal or m.has_debit or not m.is_whole) then format(
    'what left under the id of %s came back: correct nothing; %s', m.name, ${resolveCommand}
  )
  when l.is_reversal then format(
    'the bank has taken back what had come back of %s: take it from the merchant''s balance if it was paid or credited again (%s), then %s',
    m.name, ${take}, ${resolveCommand}
  )
  when not m.is_whole then format('%s is of another amount: ask the bank, then %s', m.name, ${resolveCommand})
  when m.has_debit then format(
    '%s has its line already, and was paid twice: ask the bank for the money, then %s', m.name, ${resolveCommand}
  )
  else format('it is %s, on another account or late: %s %s', m.name, ${resolveCommand}, m.flags)
end`

/** What comes back is a return only where nothing else has left under the id: a return is paid out again. */
const ofCredit = sql.fragment`case
  when m.is_waiting then format(
    '%s waits here, and has come back: bring its next file to no bank, then %s %s', m.name, ${resolveCommand}, m.flags
  )
  when not m.is_whole and same.debits >= same.credits then format(
    'a payment of another amount than %s came back: correct nothing; %s', m.name, ${resolveCommand}
  )
  when m.is_whole and left_count.debits > 1 and not m.has_credit and same.credits >= left_count.debits then format(
    '%s left %s times, and all of it has come back: %s %s; then the others without it',
    m.name, left_count.debits, ${resolveCommand}, m.flags
  )
  when m.is_whole and left_count.debits > 1 then format(
    '%s left %s times, and this is one too many of it: correct nothing, unless its debit was taken from a balance; %s%s',
    m.name, left_count.debits, ${resolveCommand},
    case when not m.has_credit then format('; or, if only one of the debits was a payment, %s %s', ${resolveCommand}, m.flags) end
  )
  when m.has_credit then format('%s has come back already: ask the bank what this is, then %s', m.name, ${resolveCommand})
  when not m.is_whole then format(
    '%s came back with another amount: ask the bank, add what came back to the merchant''s balance (%s), then %s',
    m.name, ${add}, ${resolveCommand}
  )
  when l.is_reversal then format(
    'the bank has taken its debit of %s back: if it does not book it again, %s %s', m.name, ${resolveCommand}, m.flags
  )
  else format('it is the return of %s, on another account or late: %s %s', m.name, ${resolveCommand}, m.flags)
end`

/** Payouts and refunds by file that a line `l` names, with what an operator does about the line. */
export const knownOutgoing = sql.fragment`
  select m.merchant_id, m.payment_id,
    m.has_failed and l.direction = 'DEBIT' and same.debits > same.credits as is_of_failed,
    case when m.has_failed then ${ofFailed} when l.direction = 'DEBIT' then ${ofDebit} else ${ofCredit} end as cause
  from ${named}
  cross join lateral ${namesakes}
  cross join lateral (select same.debits + m.has_debit::integer as debits) left_count
`
