import type { App } from '../app.ts'
import { getPayment, paymentNotFound } from '../payments/get-payment.ts'
import type { PaymentKey } from '../payments/get-payment.ts'
import type { TransactionRecord } from './record.ts'
import { findTransactionRow } from './sql.ts'

/**
 * A line of a merchant's ledger. Like a payment that is read, one that waits in vain is expired first (decision 18).
 * @throws {DomainError} PAYMENT_NOT_FOUND for an unknown id and for another merchant's alike
 */
export async function getTransaction(app: App, key: PaymentKey): Promise<TransactionRecord> {
  await getPayment(app, key)
  const transaction = await findTransactionRow(app.pool, key)
  if (transaction === null) throw paymentNotFound()
  return transaction
}
