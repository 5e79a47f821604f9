import type { App } from '../app.ts'
import { getPayment, paymentNotFound } from '../payments/get-payment.ts'
import type { PaymentKey } from '../payments/get-payment.ts'
import type { TransactionRecord } from './record.ts'
import { findTransactionRow } from './sql.ts'

/**
 * A merchant's transaction. Like `getPayment`, it first expires a payment whose consent has ended (decision 18).
 * @throws {DomainError} PAYMENT_NOT_FOUND for an unknown id and for another merchant's alike
 */
export async function getTransaction(app: App, key: PaymentKey): Promise<TransactionRecord> {
  await getPayment(app, key)
  const transaction = await findTransactionRow(app.pool, key)
  if (transaction === null) throw paymentNotFound()
  return transaction
}
