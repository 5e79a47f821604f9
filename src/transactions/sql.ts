import type { CommonQueryMethods } from 'slonik'
import type { z } from 'zod'
import { Examined } from '../db/examined-sql.ts'
import { sql } from '../db/sql.ts'
import { examinedPage } from '../payments/list-sql.ts'
import type { PaymentPage } from '../payments/list-sql.ts'
import { paymentTables } from '../payments/sql.ts'
import { TransactionRecord } from './record.ts'

const transactionColumns = sql.fragment`
  p.id as payment_id, p.created_at, (
    select e.created_at
    from payment_events e
    where e.merchant_id = p.merchant_id and e.payment_intent_id = p.id and e.new_status = 'Settled'
    order by e.ordinal
    limit 1
  ) as settled_at, p.status, p.end_to_end_id, p.gross_amount, p.fee_amount, p.net_amount, p.refunded_amount,
  case when p.status in ('Settled', 'Refunded') then p.net_amount - p.refunded_amount else 0 end as payout_amount, p.currency,
  c.payer_name, c.debtor_bank_id,
  coalesce(p.remittance_reference, c.remittance_reference) as remittance_reference, p.bank_reference, p.failure_code
`

const ExaminedTransaction = TransactionRecord.extend(Examined.shape)

/** A page of one merchant's transactions, the newest first: `examinedPage` with the transactions' columns. */
export function listTransactionRows(
  tx: CommonQueryMethods,
  page: PaymentPage,
): Promise<readonly z.infer<typeof ExaminedTransaction>[]> {
  return tx.any(sql.type(ExaminedTransaction)`
    select ${transactionColumns}, page.matches, page.is_last_examined
    from (${examinedPage(page)}) page
    join ${paymentTables} on p.merchant_id = page.merchant_id and p.id = page.id
    order by page.created_at desc, page.id desc
  `)
}

export function findTransactionRow(
  tx: CommonQueryMethods,
  key: { merchantId: string; id: string },
): Promise<TransactionRecord | null> {
  return tx.maybeOne(sql.type(TransactionRecord)`
    select ${transactionColumns} from ${paymentTables} where p.merchant_id = ${key.merchantId} and p.id = ${key.id}
  `)
}
