import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { DomainError } from '../lib/errors.ts'
import type { FailureCode } from '../lib/failure-codes.ts'
import { isUuid } from '../lib/ids.ts'
import type { FailPayout } from '../wire/payouts.ts'
import { CANCELLATION } from './cancel-unsent-payouts.ts'
import { payoutNotFound } from './get-payout.ts'
import { announcePayout, movePayout } from './move.ts'
import type { PayoutRecord } from './record.ts'
import { lockPayout } from './sql.ts'

export type FailPayoutInput = FailPayout & { id: string; actor: Actor }

/**
 * Cancels a payout that is not sent yet, or records that a bank has not made one that a file took to it, where it said so in
 * no file that could be imported. The code says which of the two, so that none fails which a file has just taken. The money is
 * in the merchant's balance again.
 * @throws {DomainError} PAYOUT_NOT_FOUND; PAYOUT_NOT_FAILABLE for one that a bank's API has, or that is in another status
 */
export async function failPayout(app: App, input: FailPayoutInput): Promise<PayoutRecord> {
  const { id, reason, failure_code: failureCode, actor } = input
  if (!isUuid(id)) throw payoutNotFound()
  const payout = await app.pool.transaction(async (tx) => {
    const known = await lockPayout(tx, id)
    if (known === null) throw payoutNotFound()
    const { merchant_id: merchantId } = known
    const move = failureCode === CANCELLATION.failureCode ? CANCELLATION : rejectionOf(known, failureCode)
    const moved = await movePayout(tx, app, { merchantId, id, ...move })
    if (moved === null)
      throw notFailable(
        known,
        `the payout is ${known.status}; only one that is ${move.from} can fail as ${failureCode}`,
      )
    const after = { failure_code: failureCode }
    await recordAction(app, tx, { actor, action: 'payout.fail', merchantId, subjectId: id, reason, after })
    return moved
  })
  announcePayout(app, payout)
  return payout
}

function rejectionOf(payout: PayoutRecord, failureCode: FailureCode) {
  if (payout.connector !== 'file')
    throw notFailable(payout, `${payout.connector} says itself what became of the payout`)
  return { from: 'SENT', changedBy: 'OPERATOR', on: 'rejection', failureCode } as const
}

function notFailable({ id, status }: PayoutRecord, message: string): DomainError {
  const next = `cancel it: svc payouts fail ${id} --code ${CANCELLATION.failureCode}`
  return new DomainError('PAYOUT_NOT_FAILABLE', message, {
    current: { status },
    ...(status === CANCELLATION.from ? { next } : {}),
  })
}
