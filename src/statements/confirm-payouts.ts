import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { movePayout } from '../payouts/move.ts'
import type { PayoutRecord } from '../payouts/record.ts'
import type { PayoutLine } from './record.ts'

/**
 * Moves payouts as the lines that are known of them say: a debit was paid, and a credit under its id came back, which
 * proves that it was paid too. What the bank's API has said before stays.
 * @returns those that have moved, to be announced after the commit
 */
export async function confirmPayouts(
  app: Pick<App, 'ids' | 'config'>,
  tx: DatabaseTransactionConnection,
  lines: readonly PayoutLine[],
): Promise<PayoutRecord[]> {
  const moves: (PayoutRecord | null)[] = []
  for (const { merchant_id: merchantId, payout_id: id, direction, bank_reference: bankReference } of lines) {
    const key = { merchantId, id, changedBy: 'OPERATOR' } as const
    moves.push(await movePayout(tx, app, { ...key, from: 'SENT', on: 'confirmation', bankReference }))
    if (direction === 'CREDIT')
      moves.push(await movePayout(tx, app, { ...key, from: 'PAID', on: 'return', failureCode: 'BANK_ERROR' }))
  }
  return moves.filter((moved) => moved !== null)
}
