import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../../app.ts'
import { recordAction } from '../../audit/record-action.ts'
import type { Actor } from '../../audit/record.ts'
import { DomainError } from '../../lib/errors.ts'
import { isUuid } from '../../lib/ids.ts'
import type { FailRefund } from '../../wire/refunds.ts'
import { announceRefund, finishRefundIn } from './execute-refund.ts'
import { lockPaymentRow } from '../sql.ts'
import type { ListedRefund, PayerAccount, RefundRecord } from './record.ts'
import { payerAccountNumber } from './refund-route.ts'
import { findMerchantOfRefund, findRefund, getListedRefund, getPayerAccount, lockWaitingRefund } from './sql.ts'

export type FailRefundInput = FailRefund & { id: string; actor: Actor }

/**
 * Records that a bank has not made a refund that a file took to it, where it said so in no file that could be imported; or
 * ends one that nothing can take: the payer's account can't be opened, no account of ours pays its currency, or it waits for
 * the API of a bank that has none or is not configured here. The amount can be refunded again, as after a rejection.
 * @throws {DomainError} REFUND_NOT_FOUND; REFUND_NOT_FAILABLE for a refund that the next file takes, that a bank's API
 *   carries out, or that has ended
 */
export async function failRefund(
  app: Pick<App, 'pool' | 'ids' | 'refundApis' | 'sealer' | 'config' | 'log' | 'metrics' | 'wake'>,
  { id, reason, failure_code: failureCode, actor }: FailRefundInput,
): Promise<ListedRefund> {
  if (!isUuid(id)) throw refundNotFound()
  const { finished, failed } = await app.pool.transaction(async (tx) => {
    const merchantId = await findMerchantOfRefund(tx, id)
    const refund = merchantId === null ? null : await findRefund(tx, { merchantId, id })
    if (merchantId === null || refund === null) throw refundNotFound()
    const { sent_at: sentAt } = await getListedRefund(tx, { merchantId, id })
    if (sentAt === null && refund.status === 'PENDING') await refuseIfCarried(tx, app, refund)
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

/**
 * Rejects a refund that is still taken to its bank: by the bank's API, or by the next file. Its row is locked, so that no
 * file takes it meanwhile.
 */
async function refuseIfCarried(
  tx: DatabaseTransactionConnection,
  app: Pick<App, 'refundApis' | 'config' | 'sealer'>,
  { id, merchant_id: merchantId, payment_intent_id: paymentId, end_to_end_id: endToEndId }: RefundRecord,
): Promise<void> {
  const payment = await lockPaymentRow(tx, { merchantId, id: paymentId })
  if (payment === null) throw new Error('the payment of a refund is missing')
  if (endToEndId === null) {
    if (!app.refundApis.has(payment.bank_connector)) return
    throw new DomainError('REFUND_NOT_FAILABLE', `the API of ${payment.bank_connector} carries out the refund`)
  }
  const isWaiting = await lockWaitingRefund(tx, { merchantId, id })
  const account = await getPayerAccount(tx, { merchantId, consentId: payment.consent_id })
  if (!isWaiting || canBeWritten(app, account, payment.currency))
    throw new DomainError('REFUND_NOT_FAILABLE', 'no file has taken the refund to the bank')
}

/** Whether a file can have a refund to this account: an account of ours pays the currency, and the number opens. */
function canBeWritten(app: Pick<App, 'config' | 'sealer'>, account: PayerAccount, currency: string): boolean {
  if (!app.config.payoutAccounts.has(currency)) return false
  try {
    return payerAccountNumber(app, account, currency) !== null
  } catch {
    return false
  }
}

function refundNotFound(): DomainError {
  return new DomainError('REFUND_NOT_FOUND', 'refund not found')
}
