import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../../db/sql.ts'
import { RecurringView } from './record.ts'
import { recurringColumns } from './sql.ts'

const lastOrder = sql.fragment`
  left join payment_orders o
    on o.customer_id = r.customer_id and o.recurring_payment_id = r.id and o.run_day = r.last_run_day
`
const lastOrderColumns = sql.fragment`
  o.id as last_order_id, o.status as last_order_status, o.status_reason_code as last_order_reason
`

/** A recurring payment of this customer, with the payment of its last run. */
export function findRecurring(
  tx: CommonQueryMethods,
  { customerId, id }: { customerId: string; id: string },
): Promise<RecurringView | null> {
  return tx.maybeOne(sql.prepared('find_recurring', RecurringView)`
    select ${recurringColumns}, ${lastOrderColumns}
    from recurring_payments r
    ${lastOrder}
    where r.customer_id = ${customerId} and r.id = ${id}
  `)
}

const RecurringCount = z.object({ recurring_count: z.bigint() })
const RecurringRow = z.union([
  RecurringView.extend(RecurringCount.shape),
  // The only row of an empty page.
  RecurringCount.extend({ id: z.null() }),
])

/** A page of a customer's recurring payments, the newest first, each row with their total count; at least one row. */
export function listRecurringRows(
  tx: CommonQueryMethods,
  { customerId, page, pageSize }: { customerId: string; page: number; pageSize: number },
): Promise<readonly z.infer<typeof RecurringRow>[]> {
  return tx.many(sql.prepared('list_recurring', RecurringRow)`
    select c.recurring_count, ${recurringColumns}, ${lastOrderColumns}
    from (select count(*) as recurring_count from recurring_payments where customer_id = ${customerId}) c
    left join (
      select id
      from recurring_payments
      where customer_id = ${customerId}
      order by created_at desc, id desc
      offset ${(page - 1) * pageSize}::bigint
      limit ${pageSize}
    ) p on true
    left join recurring_payments r on r.customer_id = ${customerId} and r.id = p.id
    ${lastOrder}
    order by r.created_at desc, r.id desc
  `)
}
