import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'
import { FoundPayment } from './record.ts'
import { paymentColumns, paymentTables } from './sql.ts'

/*
 * Statement texts for the batchers of batches.ts: each takes its items as json in `$1` and returns a row per item,
 * numbered by `ord` from 1.
 */

/**
 * Creates payments, and computes their fees. How the fee is rounded: `create_payments` (migrations/functions) rounds
 * gross x percentage + flat half up to four decimals (decision 33), and nothing else computes a fee.
 */
export const createPaymentsStatement = 'select * from create_payments($1)'

/** Changes the status of payments: the only writer of it in the database. */
export const movePaymentsStatement = 'select * from move_payments($1)'

/**
 * Payments with their histories, for items `{merchant_id, id}`. It uses a lateral join because the plan is made once for
 * batches of any size: it must look each payment up by its key.
 */
export const findPaymentsStatement = `
  select i.ord, found.*
  from rows from (json_to_recordset($1) as (merchant_id uuid, id uuid)) with ordinality as i (merchant_id, id, ord)
  left join lateral (
    select ${paymentColumns.sql}, history.changes as status_history
    from ${paymentTables.sql}
    cross join lateral (
      select json_agg(json_build_object(
        'ordinal', e.ordinal::text, 'previous_status', e.previous_status, 'new_status', e.new_status,
        'changed_by', e.changed_by, 'created_at', iso_text(e.created_at)
      ) order by e.ordinal) as changes
      from payment_events e
      where e.merchant_id = p.merchant_id and e.payment_intent_id = p.id
    ) history
    where p.merchant_id = i.merchant_id and p.id = i.id
    limit 1
  ) found on true`

/** `findPaymentsStatement` for one payment, in the caller's transaction. */
export function findPaymentRow(
  tx: CommonQueryMethods,
  key: { merchant_id: string; id: string },
): Promise<FoundPayment> {
  const statement = sql.type(FoundPayment)``
  return tx.one({ ...statement, sql: findPaymentsStatement, values: [JSON.stringify([key])] })
}
