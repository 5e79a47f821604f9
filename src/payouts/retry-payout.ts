import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { findMerchantRow } from '../merchants/admin-sql.ts'
import { createPayout } from './create-payouts.ts'
import { payoutNotFound } from './get-payout.ts'
import { announcePayout } from './move.ts'
import { makePayoutDue } from './move-sql.ts'
import type { PayoutRecord } from './record.ts'
import { lockPayout } from './sql.ts'

export type RetryPayoutInput = { id: string; reason: string; actor: Actor }

/**
 * Retries a payout now: after a failure or return by a new one, of all that the merchant is owed in its currency; without
 * the bank's answer by asking it again.
 * @returns the new payout, or the same one
 * @throws {DomainError} PAYOUT_NOT_FOUND, PAYOUT_NOT_RETRYABLE, PAYOUT_HELD, MERCHANT_NOT_APPROVED, MERCHANT_INACTIVE
 */
export async function retryPayout(app: App, { id, reason, actor }: RetryPayoutInput): Promise<PayoutRecord> {
  if (!isUuid(id)) throw payoutNotFound()
  const { payout, isNew } = await app.pool.transaction(async (tx) => {
    const known = await lockPayout(tx, id)
    if (known === null) throw payoutNotFound()
    const retried = await retryIn(tx, app, known)
    await recordAction(app, tx, {
      actor,
      action: 'payout.retry',
      merchantId: known.merchant_id,
      subjectId: id,
      reason,
      after: { payout_id: retried.id },
    })
    return { payout: retried, isNew: retried.id !== id }
  })
  if (isNew) announcePayout(app, payout)
  app.wake.notify('send-payouts')
  return payout
}

async function retryIn(tx: DatabaseTransactionConnection, app: App, known: PayoutRecord): Promise<PayoutRecord> {
  const { merchant_id: merchantId, id, currency, status } = known
  if (status === 'PAID') throw notRetryable(known, 'it is paid')
  if (status === 'CREATED' || status === 'SENT') {
    if (known.connector === 'file') throw notRetryable(known, 'it is sent by file')
    await makePayoutDue(tx, { merchantId, id })
    return (await lockPayout(tx, id)) ?? known
  }
  const { payout } = await createPayout(tx, app, { merchant_id: merchantId, currency, evenAfterFailure: true })
  if (payout !== null) return payout
  throw await reasonWithout(tx, known)
}

/** Why no payout could be created. */
async function reasonWithout(tx: DatabaseTransactionConnection, known: PayoutRecord): Promise<DomainError> {
  const merchant = await findMerchantRow(tx, known.merchant_id)
  if (merchant === null) throw new Error('the merchant of a payout is missing')
  const { payout_held: isHeld, kyb_status: kyb, is_active: isActive } = merchant
  if (isHeld) return new DomainError('PAYOUT_HELD', 'the payouts of the merchant are held')
  if (kyb !== 'APPROVED') return new DomainError('MERCHANT_NOT_APPROVED', `the merchant is ${kyb}`)
  if (!isActive) return new DomainError('MERCHANT_INACTIVE', 'the merchant is disabled')
  return notRetryable(
    known,
    'the merchant has nothing to be paid, or owes as much, or has no bank account that is active',
  )
}

function notRetryable({ status }: PayoutRecord, reason: string): DomainError {
  return new DomainError('PAYOUT_NOT_RETRYABLE', `the payout can't be retried: ${reason}`, { current: { status } })
}
