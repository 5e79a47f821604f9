import { sql } from '../db/sql.ts'
import { isNamed, named } from './named-sql.ts'

/**
 * What a line `l` would be, had it not failed here: a payment that was paid nevertheless, or a refund or a payout that the
 * bank has made nevertheless. Such a line is matched with nothing, since the money is in no balance.
 */
export const failedOf = sql.fragment`(
  select p.merchant_id, p.id as payment_id
  from (select ${named} as id) name
  join payment_intents p on ${isNamed(sql.fragment`p.end_to_end_id`)}
  where p.status = 'Failed' and l.direction = 'CREDIT'
  union all
  select r.merchant_id, r.payment_intent_id
  from (select ${named} as id) name
  join payment_refunds r on ${isNamed(sql.fragment`r.end_to_end_id`)}
  where r.status = 'FAILED' and l.direction = 'DEBIT'
  union all
  select o.merchant_id, null
  from (select ${named} as id) name
  join payouts o on ${isNamed(sql.fragment`o.end_to_end_id`)}
  where o.status = 'FAILED' and l.direction = 'DEBIT'
) failed`
