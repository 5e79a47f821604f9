import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import type { FailPayout } from '../wire/payouts.ts'
import { payoutNotFound } from './get-payout.ts'
import { announcePayout, movePayout } from './move.ts'
import type { PayoutRecord } from './record.ts'
import { lockPayout } from './sql.ts'

export type FailPayoutInput = FailPayout & { id: string; actor: Actor }

/**
 * Records that a bank has not made a payout that a file took to it, where it said so in no file that could be imported.
 * The money is in the merchant's balance again, as after a rejection.
 * @throws {DomainError} PAYOUT_NOT_FOUND; PAYOUT_NOT_FAILABLE for a payout that a bank's API sends, or that is not SENT
 */
export async function failPayout(app: App, input: FailPayoutInput): Promise<PayoutRecord> {
  const { id, reason, failure_code: failureCode, actor } = input
  if (!isUuid(id)) throw payoutNotFound()
  const payout = await app.pool.transaction(async (tx) => {
    const known = await lockPayout(tx, id)
    if (known === null) throw payoutNotFound()
    const { merchant_id: merchantId, connector, status } = known
    if (connector !== 'file')
      throw new DomainError('PAYOUT_NOT_FAILABLE', `${connector} says itself what became of the payout`)
    const key = { merchantId, id, from: 'SENT', changedBy: 'OPERATOR' } as const
    const moved = await movePayout(tx, app, { ...key, on: 'rejection', failureCode })
    if (moved === null)
      throw new DomainError('PAYOUT_NOT_FAILABLE', `the payout is ${status}; only one that is SENT can fail`, {
        current: { status },
      })
    const after = { failure_code: failureCode }
    await recordAction(app, tx, { actor, action: 'payout.fail', merchantId, subjectId: id, reason, after })
    return moved
  })
  announcePayout(app, payout)
  return payout
}
