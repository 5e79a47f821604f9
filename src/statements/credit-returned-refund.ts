import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { correctBalanceIn } from '../ledger/correct-balance.ts'
import { findCorrectionOfRefund } from '../ledger/corrections-sql.ts'
import type { CorrectionRecord } from '../ledger/record.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { lineNotFound } from './resolve-statement-line.ts'
import { lockLine } from './sql.ts'

export type CreditReturnedRefundInput = { id: string; reason: string; actor: Actor }

/**
 * Adds a refund that has come back to its merchant's balance, which is a correction and an OWNER's (decision 412): the
 * statement that proves the return is imported by a lesser role. The payment stays refunded: whether and how the payer gets
 * the money is between payer and merchant.
 * @throws {DomainError} STATEMENT_LINE_NOT_FOUND; REFUND_NOT_CREDITABLE for a line that is no returned refund, or one that
 *   is credited already
 */
export async function creditReturnedRefund(
  app: Pick<App, 'pool' | 'ids'>,
  { id, reason, actor }: CreditReturnedRefundInput,
): Promise<CorrectionRecord> {
  if (!isUuid(id)) throw lineNotFound()
  return app.pool.transaction(async (tx) => {
    const line = await lockLine(tx, id)
    if (line === null) throw lineNotFound()
    const { merchant_id: merchantId, refund_id: refundId, direction, amount, currency } = line
    if (merchantId === null || refundId === null || direction !== 'CREDIT')
      throw new DomainError('REFUND_NOT_CREDITABLE', 'the line is not a refund that has come back')
    const made = await correctBalanceIn(tx, app, {
      merchantId,
      amount,
      currency,
      bookedAgainst: 'bank',
      reference: `refund ${refundId} came back`,
      refundId,
      reason,
      actor,
    })
    if (made !== null) return made
    const known = await findCorrectionOfRefund(tx, { merchantId, refundId })
    throw new DomainError('REFUND_NOT_CREDITABLE', 'the returned refund is credited already', {
      current: { correction_id: known?.id ?? null },
    })
  })
}
