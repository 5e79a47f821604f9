import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { failureOfReason } from '../payout-files/failure-of-reason.ts'
import { movePayouts } from '../payouts/move.ts'
import type { PayoutRecord } from '../payouts/record.ts'
import type { PayoutLine } from './record.ts'

/**
 * Moves payouts as the lines that are known of them say: a debit was paid, and a credit under its id came back, which
 * proves that it was paid too, for the reason that its bank gives. What the bank's API has said before stays.
 * @returns those that have moved, to be announced after the commit
 */
export async function confirmPayouts(
  app: Pick<App, 'ids' | 'config'>,
  tx: DatabaseTransactionConnection,
  lines: readonly PayoutLine[],
): Promise<PayoutRecord[]> {
  const returns = lines.filter(({ direction }) => direction === 'CREDIT')
  const debits = lines.filter(({ direction }) => direction === 'DEBIT')
  // Where a file has both lines of a payout, its debit has the bank's name of it.
  const proofs = new Map([...returns, ...debits].map((line) => [line.payout_id, line]))
  const paid = await movePayouts(
    tx,
    app,
    [...proofs.values()].map((line) => ({ ...keyOf(line), from: 'SENT', on: 'confirmation' })),
  )
  const returned = await movePayouts(
    tx,
    app,
    returns.map((line) => ({
      ...keyOf(line),
      from: 'PAID',
      on: 'return',
      failureCode: failureOfReason(line.return_reason),
    })),
  )
  return [...paid, ...returned]
}

function keyOf({ merchant_id: merchantId, payout_id: id, bank_reference: bankReference }: PayoutLine) {
  return { merchantId, id, bankReference, changedBy: 'OPERATOR' } as const
}
