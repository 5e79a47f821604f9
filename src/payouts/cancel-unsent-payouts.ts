import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { lockPayees } from './create-sql.ts'
import { movePayouts } from './move.ts'
import type { PayoutRecord } from './record.ts'
import { listUnsentPayouts } from './sql.ts'

/** An operator's, of a payout that is not sent yet. */
export const CANCELLATION = {
  from: 'CREATED',
  changedBy: 'OPERATOR',
  on: 'rejection',
  failureCode: 'CANCELLED_BY_PLATFORM',
} as const

/**
 * Moves the money of payouts that neither a bank nor a file has back to the balance of a merchant that is not to be paid any
 * more: a hold sets it aside there, and after a release the next payout keeps back what the merchant owes by then.
 * In the transaction that stops its payouts, before the merchant is changed: until its end no other payout is created.
 * @returns those that have failed, to be announced after the commit
 */
export async function cancelUnsentPayouts(
  tx: DatabaseTransactionConnection,
  app: Pick<App, 'ids' | 'config'>,
  merchantId: string,
): Promise<readonly PayoutRecord[]> {
  await lockPayees(tx, merchantId)
  const unsent = await listUnsentPayouts(tx, merchantId)
  return movePayouts(
    tx,
    app,
    unsent.map(({ id }) => ({ merchantId, id, ...CANCELLATION })),
  )
}
