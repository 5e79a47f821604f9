import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../../app.ts'
import { recordAction } from '../../audit/record-action.ts'
import type { Actor } from '../../audit/record.ts'
import { DomainError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/ids.ts'
import type { FailRefund } from '../../wire/refunds.ts'
import { announceRefund, finishRefundIn } from './execute-refund.ts'
import { lockPaymentRow } from '../sql.ts'
import type { ListedRefund, RefundRecord } from './record.ts'
import { payerAccountNumber } from './refund-route.ts'
import { findMerchantOfRefund, findRefund, getListedRefund, getPayerAccount, lockWaitingRefund } from './sql.ts'

export type FailRefundInput = FailRefund & { id: string; actor: Actor }

/**
 * Records that a bank has not made a refund that a file took to it, where it said so in no file that could be imported; or
 * ends one that no file can take, since the payer's account can't be opened. The amount can be refunded again, as after a
 * rejection.
 * @throws {DomainError} REFUND_NOT_FOUND; REFUND_NOT_FAILABLE for a refund that the next file takes, that a bank's API
 *   carries out, or that has ended
 */
export async function failRefund(
  app: Pick<App, 'pool' | 'ids' | 'sealer' | 'config' | 'log' | 'metrics' | 'wake'>,
  { id, reason, failure_code: failureCode, actor }: FailRefundInput,
): Promise<ListedRefund> {
  if (!isUuid(id)) throw refundNotFound()
  const { finished, failed } = await app.pool.transaction(async (tx) => {
    const merchantId = await findMerchantOfRefund(tx, id)
    const refund = merchantId === null ? null : await findRefund(tx, { merchantId, id })
    if (merchantId === null || refund === null) throw refundNotFound()
    const { sent_at: sentAt } = await getListedRefund(tx, { merchantId, id })
    if (sentAt === null && !(await isUnreadable(tx, app, refund)))
      throw new DomainError('REFUND_NOT_FAILABLE', 'no file has taken the refund to the bank')
    const answer = { outcome: 'refused', failureCode } as const
    const finished = await finishRefundIn(tx, app, refund, { answer, actor: 'BATCH_JOB' })
    const { status } = finished.ended
    if (!finished.isFirst)
      throw new DomainError('REFUND_NOT_FAILABLE', `the refund is ${status}; only one that is PENDING can fail`, {
        current: { status },
      })
    const after = { failure_code: failureCode }
    await recordAction(app, tx, { actor, action: 'refund.fail', merchantId, subjectId: id, reason, after })
    return { finished, failed: await getListedRefund(tx, { merchantId, id }) }
  })
  announceRefund(app, finished)
  return failed
}

/** Whether a refund waits for a file in vain: the number of the payer's account can't be opened. Locked: no file takes it. */
async function isUnreadable(
  tx: DatabaseTransactionConnection,
  app: Pick<App, 'sealer'>,
  { id, merchant_id: merchantId, payment_intent_id: paymentId, end_to_end_id: endToEndId }: RefundRecord,
): Promise<boolean> {
  if (endToEndId === null) return false
  const payment = await lockPaymentRow(tx, { merchantId, id: paymentId })
  if (payment === null || !(await lockWaitingRefund(tx, { merchantId, id }))) return false
  const account = await getPayerAccount(tx, { merchantId, consentId: payment.consent_id })
  try {
    return payerAccountNumber(app, account, payment.currency) === null
  } catch {
    return true
  }
}

function refundNotFound(): DomainError {
  return new DomainError('REFUND_NOT_FOUND', 'refund not found')
}
