import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { DomainError, invalidField } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { formatNumeric } from '../lib/money.ts'
import type { StatementLineRecord } from './record.ts'
import { findMovement, lockLine, resolveLine } from './sql.ts'

export type ResolveStatementLineInput = {
  id: string
  payment_id?: string | undefined
  refund_id?: string | undefined
  reason: string
  actor: Actor
}

type NamedMovement = { merchantId: string | null; paymentId: string | null; refundId: string | null }

/**
 * Says by hand what a line is that no rule has matched: a payment, a refund, or with the reason alone something else,
 * such as the bank's own fee.
 * @throws {DomainError} STATEMENT_LINE_NOT_FOUND, STATEMENT_LINE_MATCHED, PAYMENT_NOT_FOUND; VALIDATION_FAILED for a
 *   movement of another direction, amount or currency, or one that has a line already
 */
export async function resolveStatementLine(
  app: Pick<App, 'pool' | 'ids'>,
  { id, reason, actor, ...named }: ResolveStatementLineInput,
): Promise<StatementLineRecord> {
  if (!isUuid(id)) throw lineNotFound()
  return app.pool.transaction(async (tx) => {
    const line = await lockLine(tx, id)
    if (line === null) throw lineNotFound()
    if (line.matched_by !== null) throw alreadyMatched(line)
    const movement = await findNamed(tx, line, named)
    const resolved = await resolveLine(tx, { id, reason, ...movement })
    const after = { payment_id: movement.paymentId, refund_id: movement.refundId }
    const { merchantId } = movement
    await recordAction(app, tx, { actor, action: 'statement_line.resolve', merchantId, subjectId: id, reason, after })
    return resolved
  })
}

async function findNamed(
  tx: Parameters<typeof findMovement>[0],
  line: StatementLineRecord,
  { payment_id: paymentId, refund_id: refundId }: Pick<ResolveStatementLineInput, 'payment_id' | 'refund_id'>,
): Promise<NamedMovement> {
  if (paymentId === undefined) {
    if (refundId !== undefined) throw invalidField('payment_id', 'REQUIRED', 'is required beside refund_id')
    return { merchantId: null, paymentId: null, refundId: null }
  }
  const isPossible = isUuid(paymentId) && (refundId === undefined || isUuid(refundId))
  const found = isPossible ? await findMovement(tx, { paymentId, refundId: refundId ?? null }) : null
  if (found === null)
    throw new DomainError('PAYMENT_NOT_FOUND', 'there is no such settled payment, or no such executed refund of it')
  const path = refundId === undefined ? 'payment_id' : 'refund_id'
  if (found.line_id !== null) throw invalidField(path, 'ALREADY_THERE', `is the line ${found.line_id} already`)
  if (found.direction !== line.direction || found.amount !== line.amount || found.currency !== line.currency)
    throw invalidField(
      path,
      'MISMATCH',
      `is a ${found.direction.toLowerCase()} of ${moneyText(found)}, and the line a ${line.direction.toLowerCase()} of ${moneyText(line)}`,
    )
  return { merchantId: found.merchant_id, paymentId, refundId: refundId ?? null }
}

function moneyText({ amount, currency }: { amount: string; currency: string }): string {
  return `${formatNumeric(amount, currency)} ${currency}`
}

function lineNotFound(): DomainError {
  return new DomainError('STATEMENT_LINE_NOT_FOUND', 'statement line not found')
}

function alreadyMatched({ matched_by, payment_id }: StatementLineRecord): DomainError {
  return new DomainError('STATEMENT_LINE_MATCHED', 'the line is matched already', {
    current: { matched_by, payment_id },
  })
}
