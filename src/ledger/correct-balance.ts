import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { toNumeric, parseAmount } from '../lib/money.ts'
import { findMerchantRow } from '../merchants/admin-sql.ts'
import { merchantNotFound } from '../merchants/change-merchant.ts'
import { findCorrectionOfKey, insertCorrection } from './corrections-sql.ts'
import type { CorrectedAgainst } from './movements.ts'
import type { CorrectionRecord } from './record.ts'
import { postMovements } from './sql.ts'

export type CorrectBalanceInput = {
  merchantId: string
  /** What the merchant gets; with a minus, what it gives. */
  amount: string
  currency: string
  bookedAgainst: CorrectedAgainst
  reference?: string | undefined
  reason: string
  idempotencyKey?: string | undefined
  actor: Actor
}

/**
 * Adds to what a merchant is owed, or takes from it, where no payment, refund or payout is the reason.
 * @throws {DomainError} MERCHANT_NOT_FOUND, IDEMPOTENCY_KEY_REUSED
 */
export async function correctBalance(
  app: Pick<App, 'pool' | 'ids'>,
  input: CorrectBalanceInput,
): Promise<CorrectionRecord> {
  const { merchantId } = input
  if (!isUuid(merchantId)) throw merchantNotFound()
  return app.pool.transaction(async (tx) => {
    if ((await findMerchantRow(tx, merchantId)) === null) throw merchantNotFound()
    return correctBalanceIn(tx, app, input)
  })
}

/** The same in the caller's transaction, for a merchant that there is. */
export async function correctBalanceIn(
  tx: DatabaseTransactionConnection,
  app: Pick<App, 'ids'>,
  { merchantId, bookedAgainst, actor, reason, ...input }: CorrectBalanceInput & { refundId?: string },
): Promise<CorrectionRecord> {
  const { currency, idempotencyKey = null, refundId = null } = input
  const isTaken = input.amount.startsWith('-')
  const amount = toNumeric(parseAmount(input.amount.replace(/^-/, '')))
  const after = {
    currency,
    amount: isTaken ? `-${amount}` : amount,
    booked_against: bookedAgainst,
    reference: input.reference ?? null,
  }
  const sides = isTaken
    ? { debit: 'clearing' as const, credit: bookedAgainst }
    : { debit: bookedAgainst, credit: 'clearing' as const }
  const of = { id: app.ids.uuid(), merchant_id: merchantId, created_by: actor.name, idempotencyKey, refundId }
  const made = await insertCorrection(tx, { ...after, ...of })
  if (made === null) return sameCorrection(await findCorrectionOfKey(tx, { merchantId, idempotencyKey }), after)
  const { id: subjectId } = made
  await postMovements(tx, [{ merchantId, subjectId, movement: 'correction', amount, currency, ...sides }])
  await recordAction(app, tx, { actor, action: 'balance.correct', merchantId, subjectId, reason, after })
  return made
}

/** The correction that the key has, if it is this one. */
function sameCorrection(known: CorrectionRecord | null, wanted: Partial<CorrectionRecord>): CorrectionRecord {
  if (known === null) throw new Error('the correction of a key is missing')
  const isSame = Object.entries(wanted).every(([name, value]) => known[name as keyof CorrectionRecord] === value)
  if (isSame) return known
  throw new DomainError('IDEMPOTENCY_KEY_REUSED', 'this X-Idempotency-Key was used with another body')
}
