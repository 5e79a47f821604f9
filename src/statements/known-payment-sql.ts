import { sql } from '../db/sql.ts'
import { isNamed } from './named-sql.ts'
import { correctCommand, inAll, namesakes, resolveCommand, sumInAll } from './namesakes-sql.ts'

const take = correctCommand(sql.fragment`p.merchant_id`, '-')
const add = correctCommand(sql.fragment`p.merchant_id`, '')

const stayed = sql.fragment`same.credits - same.debits`
/** What the bank has booked of it in all, whose parts may differ by charges. */
const booked = sql.fragment`-same.stayed_away`

/**
 * Of one that has failed: its money was added to no balance, unless an operator has done so. The corrections that name it
 * are of the payment's amount at most (decision 438), and the bank may have booked more.
 */
const ofFailed = sql.fragment`case
  when l.direction = 'CREDIT' and ${stayed} > 0 and made.amount >= ${booked} then format(
    'the bank has booked payment %s, which failed here, and corrections that name it have added it to the merchant''s balance: correct nothing; %s',
    p.id, ${resolveCommand}
  )
  when l.direction = 'CREDIT' and made.amount is null and l.amount = ${booked} and l.amount <= p.gross_amount then format(
    'the bank has booked payment %s, which failed here: add it to the merchant''s balance (%s --payment %s), unless svc payments resolve has returned it, or have it sent back; then %s',
    p.id, ${add}, p.id, ${resolveCommand}
  )
  when same.debits + same.credits > 2 or (l.direction = 'CREDIT' and ${stayed} > 0) then format(
    'payment %s failed here, was booked %s times and sent back %s times: add %s, to the merchant''s balance (svc merchants correct, with --payment up to its amount), or have it sent back; then %s',
    p.id, same.credits, same.debits, ${sumInAll(booked)}, ${resolveCommand}
  )
  when l.direction = 'DEBIT' then format(
    'the bank has sent payment %s back, which failed here: take it from the merchant''s balance if it was added there (%s), then %s',
    p.id, ${take}, ${resolveCommand}
  )
  else format('payment %s failed here, and the bank has sent it back: correct nothing; %s', p.id, ${resolveCommand})
end`

const ofSeveral = sql.fragment`format(
  'settled payment %s was taken back %s times and credited again %s times: take %s, from the merchant''s balance (svc merchants correct), then %s',
  p.id, same.debits, same.credits, ${inAll(sql.fragment`same.debits - same.credits`)}, ${resolveCommand}
)`

/**
 * Of one that has settled, whose money is in the merchant's balance: the bank has taken it back, unless it is a refund by
 * the bank's API, which has the id of its payment.
 */
const ofDebit = sql.fragment`case
  when api.status = 'EXECUTED' then format(
    'it is refund %s, which no rule has matched: %s --payment %s --refund %s', api.id, ${resolveCommand}, p.id, api.id
  )
  when api.status = 'PENDING' then format(
    'refund %s of payment %s waits for the word of its bank: an import after it matches the line', api.id, p.id
  )
  when same.debits > 1 then ${ofSeveral}
  when same.credits >= same.debits then format(
    'payment %s was credited twice, and once was taken back: correct nothing; %s', p.id, ${resolveCommand}
  )
  else format(
    'the bank has taken settled payment %s back: take it from the merchant''s balance (%s), then %s', p.id, ${take}, ${resolveCommand}
  )
end`

/** Of one that has settled and has its line. */
const ofSecondCredit = sql.fragment`case
  when same.debits > 1 then ${ofSeveral}
  when same.debits < same.credits then format(
    'payment %s has its line already: ask the bank whether it was credited twice, then %s', p.id, ${resolveCommand}
  )
  when same.explained > 0 then format(
    'payment %s was taken back, and has come again: add it again if it was taken from the merchant''s balance (%s), then %s',
    p.id, ${add}, ${resolveCommand}
  )
  else format('payment %s was credited twice, and once was taken back: correct nothing; %s', p.id, ${resolveCommand})
end`

/** Payments that a line `l` names, with what an operator does about the line; not those whose line it may become. */
export const knownPayment = sql.fragment`
  select p.merchant_id, p.id as payment_id,
    p.status = 'Failed' and l.direction = 'CREDIT' and same.credits > same.debits as is_of_failed,
    case
      when p.status = 'Failed' then ${ofFailed}
      when p.status not in ('Settled', 'Refunded') then format(
        'the bank has taken payment %s back, which is %s here: wait until it has ended (svc explain %s)', p.id, p.status, p.id
      )
      when l.direction = 'DEBIT' then ${ofDebit}
      else ${ofSecondCredit}
    end as cause
  from payment_intents p
  cross join lateral ${namesakes}
  cross join lateral (
    select sum(k.amount) as amount from corrections k
    where k.merchant_id = p.merchant_id and k.payment_id = p.id and k.currency = l.currency
  ) made
  left join lateral (
    select r.id, r.status from payment_refunds r
    where r.merchant_id = p.merchant_id and r.payment_intent_id = p.id and r.end_to_end_id is null and not l.is_reversal
      and r.status in ('EXECUTED', 'PENDING') and r.amount = l.amount and p.currency = l.currency
      and not exists (
        select from bank_statement_lines d where d.merchant_id = r.merchant_id and d.refund_id = r.id and d.direction = 'DEBIT'
      )
    order by r.created_at, r.id
    limit 1
  ) api on true
  where ${isNamed(sql.fragment`p.end_to_end_id`)} and (
    l.direction = 'DEBIT' or p.status = 'Failed' or exists (
      select from bank_statement_lines c
      where c.merchant_id = p.merchant_id and c.payment_id = p.id and c.refund_id is null
    )
  )
`
