import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { finishRefundIn } from '../payments/refunds/execute-refund.ts'
import type { FinishedRefund } from '../payments/refunds/execute-refund.ts'
import { findRefund } from '../payments/refunds/sql.ts'
import type { RefundLine } from './record.ts'

/**
 * Executes refunds that a file took to the bank, as the lines that are known of them prove. Those that the bank's API has
 * executed stay as they are.
 * @returns those that are executed now, to be announced after the commit
 */
export async function confirmRefunds(
  app: Pick<App, 'ids' | 'config' | 'sealer'>,
  tx: DatabaseTransactionConnection,
  lines: readonly RefundLine[],
): Promise<FinishedRefund[]> {
  const ends: FinishedRefund[] = []
  // Where a file has both lines of a refund, its debit has the bank's name of it.
  const debits = lines.filter(({ direction }) => direction === 'DEBIT')
  const returns = lines.filter(({ direction }) => direction === 'CREDIT')
  for (const { merchant_id: merchantId, refund_id: id, bank_reference: bankReference } of [...debits, ...returns]) {
    const refund = await findRefund(tx, { merchantId, id })
    if (refund?.status !== 'PENDING') continue
    const answer = { outcome: 'executed', bankReference } as const
    ends.push(await finishRefundIn(tx, app, refund, { answer, actor: 'BATCH_JOB', job: 'import-statements' }))
  }
  return ends
}
