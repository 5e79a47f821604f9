import { sql } from '../db/sql.ts'
import { isNamed, named } from './named-sql.ts'

/**
 * What has the id that a debit `l` names, and is not what has failed: a payout, a refund by file, or a payment. Other refunds
 * have the id of their payment, and so has what a bank sends back. With what an operator finds out, and does.
 */
export const knownOf = sql.fragment`(
  select o.merchant_id, null::uuid as payment_id,
    case
      when o.status = 'CREATED' then format(
        'payout %s waits here and would be paid again: bring its next file to no bank, then svc statements resolve %s --payout %s',
        o.id, l.id, o.id
      )
      when o.amount <> l.amount or o.currency <> l.currency then format(
        'payout %s is of another amount: ask the bank, then svc statements resolve %s', o.id, l.id
      )
      when exists (
        select from bank_statement_lines d
        where d.merchant_id = o.merchant_id and d.payout_id = o.id and d.direction = 'DEBIT'
      ) then format(
        'payout %s has its line already, and was paid twice: ask the bank for the money, then svc statements resolve %s', o.id, l.id
      )
      else format(
        'it is payout %s, on another account or late: svc statements resolve %s --payout %s', o.id, l.id, o.id
      )
    end as cause
  from (select ${named} as id) name
  join payouts o on ${isNamed(sql.fragment`o.end_to_end_id`)}
  where l.direction = 'DEBIT' and o.status <> 'FAILED'
  union all
  select r.merchant_id, p.id,
    case
      when r.file_id is null then format(
        'refund %s waits here and would be paid again: bring its next file to no bank, then svc statements resolve %s --payment %s --refund %s',
        r.id, l.id, p.id, r.id
      )
      when r.amount <> l.amount or p.currency <> l.currency then format(
        'refund %s is of another amount: ask the bank, then svc statements resolve %s', r.id, l.id
      )
      when exists (
        select from bank_statement_lines d
        where d.merchant_id = r.merchant_id and d.refund_id = r.id and d.direction = 'DEBIT'
      ) then format(
        'refund %s has its line already, and was paid twice: ask the bank for the money, then svc statements resolve %s', r.id, l.id
      )
      else format(
        'it is refund %s, on another account or late: svc statements resolve %s --payment %s --refund %s', r.id, l.id, p.id, r.id
      )
    end
  from (select ${named} as id) name
  join payment_refunds r on ${isNamed(sql.fragment`r.end_to_end_id`)}
  join payment_intents p on p.merchant_id = r.merchant_id and p.id = r.payment_intent_id
  where l.direction = 'DEBIT' and r.status <> 'FAILED'
  union all
  select p.merchant_id, p.id,
    case
      when p.status in ('Settled', 'Refunded') then format(
        'a refund of payment %s, or the bank has sent it back: svc explain %s, then svc statements resolve %s, for a refund with --payment %s --refund',
        p.id, p.id, l.id, p.id
      )
      else format('the bank has sent payment %s back, which failed here: svc statements resolve %s', p.id, l.id)
    end
  from (select ${named} as id) name
  join payment_intents p on ${isNamed(sql.fragment`p.end_to_end_id`)}
  where l.direction = 'DEBIT'
) known`
