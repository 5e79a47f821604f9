import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { DomainError, invalidField } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { amountWithCurrency } from '../lib/money.ts'
import type { StatementLineRecord } from './record.ts'
import { announcePayout } from '../payouts/move.ts'
import { announceRefund } from '../payments/refunds/execute-refund.ts'
import { confirmPayouts } from './confirm-payouts.ts'
import { confirmRefunds } from './confirm-refunds.ts'
import { findMovement, findPayoutMovement, lockLine, lockStatements, openLinesOfFailed, resolveLine } from './sql.ts'
import type { Movement, NamedMovement } from './sql.ts'

export type ResolveStatementLineInput = {
  id: string
  payment_id?: string | undefined
  refund_id?: string | undefined
  payout_id?: string | undefined
  reason: string
  actor: Actor
}

/**
 * Says by hand what a line is that no rule has matched: a payment, a refund, a payout, or with the reason alone something else,
 * such as the bank's own fee.
 * @throws {DomainError} STATEMENT_LINE_NOT_FOUND, STATEMENT_LINE_MATCHED, PAYMENT_NOT_FOUND, PAYOUT_NOT_FOUND;
 *   VALIDATION_FAILED for a movement of another direction, amount or currency, or one that has a line already
 */
export async function resolveStatementLine(
  app: Pick<App, 'pool' | 'ids' | 'sealer' | 'config' | 'log' | 'metrics' | 'wake'>,
  { id, reason, actor, ...named }: ResolveStatementLineInput,
): Promise<StatementLineRecord> {
  if (!isUuid(id)) throw lineNotFound()
  const { resolved, moved, refunded } = await app.pool.transaction(async (tx) => {
    await lockStatements(tx)
    const line = await lockLine(tx, id)
    if (line === null) throw lineNotFound()
    if (line.matched_by !== null) throw alreadyMatched(line)
    const movement = await findNamed(tx, line, named)
    const resolved = await resolveLine(tx, { id, reason, ...movement })
    const { merchantId, paymentId, refundId, payoutId } = movement
    const { direction, bank_reference, return_reason } = line
    const lines =
      merchantId === null || payoutId === null
        ? []
        : [{ merchant_id: merchantId, payout_id: payoutId, direction, bank_reference, return_reason }]
    const refunds =
      merchantId === null || refundId === null
        ? []
        : [{ merchant_id: merchantId, refund_id: refundId, direction, bank_reference }]
    const moved = await confirmPayouts(app, tx, lines)
    const refunded = await confirmRefunds(app, tx, refunds)
    const opened = await openLinesOfFailed(tx, { payouts: lines, refunds })
    if (opened.length > 0) throw payoutId === null ? refundNotFound() : payoutNotFound()
    const after = { payment_id: paymentId, refund_id: refundId, payout_id: payoutId }
    await recordAction(app, tx, { actor, action: 'statement_line.resolve', merchantId, subjectId: id, reason, after })
    return { resolved, moved, refunded }
  })
  for (const payout of moved) announcePayout(app, payout)
  for (const refund of refunded) announceRefund(app, refund)
  return resolved
}

type Named = Pick<ResolveStatementLineInput, 'payment_id' | 'refund_id' | 'payout_id'>

async function findNamed(
  tx: Parameters<typeof findMovement>[0],
  line: StatementLineRecord,
  named: Named,
): Promise<NamedMovement> {
  const { payment_id: paymentId, refund_id: refundId, payout_id: payoutId } = named
  if (payoutId !== undefined && paymentId !== undefined)
    throw invalidField('payout_id', 'NOT_ALLOWED', 'must be left out beside payment_id')
  if (refundId !== undefined && paymentId === undefined)
    throw invalidField('payment_id', 'REQUIRED', 'is required beside refund_id')
  if (payoutId !== undefined) return foundPayout(tx, line, payoutId)
  if (paymentId === undefined) return { merchantId: null, paymentId: null, refundId: null, payoutId: null }
  const isPossible = isUuid(paymentId) && (refundId === undefined || isUuid(refundId))
  const found = isPossible
    ? await findMovement(tx, { paymentId, refundId: refundId ?? null, direction: line.direction })
    : null
  if (found === null) throw refundNotFound()
  refuseUnlike(found, line, refundId === undefined ? 'payment_id' : 'refund_id')
  return { merchantId: found.merchant_id, paymentId, refundId: refundId ?? null, payoutId: null }
}

async function foundPayout(
  tx: Parameters<typeof findMovement>[0],
  line: StatementLineRecord,
  payoutId: string,
): Promise<NamedMovement> {
  const { direction } = line
  const found = isUuid(payoutId) ? await findPayoutMovement(tx, { payoutId, direction }) : null
  if (found === null) throw payoutNotFound()
  refuseUnlike(found, line, 'payout_id')
  return { merchantId: found.merchant_id, paymentId: null, refundId: null, payoutId }
}

function refuseUnlike(found: Movement, line: StatementLineRecord, path: string): void {
  if (found.line_id !== null) throw invalidField(path, 'ALREADY_THERE', `is the line ${found.line_id} already`)
  if (found.direction === line.direction && found.amount === line.amount && found.currency === line.currency) return
  // A payout that is RETURNED is paid out again in full, and so is a refund credited.
  const next =
    found.kind !== 'payment' && found.direction === 'CREDIT' && line.direction === 'CREDIT'
      ? ': add what came back with svc merchants correct, and resolve the line by its reason alone'
      : ''
  throw invalidField(
    path,
    'MISMATCH',
    `is a ${found.direction.toLowerCase()} of ${amountWithCurrency(found.amount, found.currency)}, and the line a ${line.direction.toLowerCase()} of ${amountWithCurrency(line.amount, line.currency)}${next}`,
  )
}

function refundNotFound(): DomainError {
  return new DomainError('PAYMENT_NOT_FOUND', 'settled payment, or executed refund of it, not found')
}

function payoutNotFound(): DomainError {
  return new DomainError('PAYOUT_NOT_FOUND', 'sent payout not found')
}

export function lineNotFound(): DomainError {
  return new DomainError('STATEMENT_LINE_NOT_FOUND', 'statement line not found')
}

function alreadyMatched({ matched_by, payment_id, payout_id }: StatementLineRecord): DomainError {
  return new DomainError('STATEMENT_LINE_MATCHED', 'the line is matched already', {
    current: { matched_by, payment_id, payout_id },
  })
}
