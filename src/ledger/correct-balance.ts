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
  { merchantId, bookedAgainst, actor, reason, ...input }: CorrectBalanceInput,
): Promise<CorrectionRecord> {
  if (!isUuid(merchantId)) throw merchantNotFound()
  const { currency, idempotencyKey = null } = input
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
  return app.pool.transaction(async (tx) => {
    if ((await findMerchantRow(tx, merchantId)) === null) throw merchantNotFound()
    const correction = { id: app.ids.uuid(), merchant_id: merchantId, ...after, created_by: actor.name, idempotencyKey }
    const made = await insertCorrection(tx, correction)
    if (made === null) return sameCorrection(await findCorrectionOfKey(tx, { merchantId, idempotencyKey }), after)
    const { id: subjectId } = made
    await postMovements(tx, [{ merchantId, subjectId, movement: 'correction', amount, currency, ...sides }])
    await recordAction(app, tx, { actor, action: 'balance.correct', merchantId, subjectId, reason, after })
    return made
  })
}

/** The correction that the key has, if it is this one. */
function sameCorrection(known: CorrectionRecord | null, wanted: Partial<CorrectionRecord>): CorrectionRecord {
  if (known === null) throw new Error('the correction of a key is missing')
  const isSame = Object.entries(wanted).every(([name, value]) => known[name as keyof CorrectionRecord] === value)
  if (isSame) return known
  throw new DomainError('IDEMPOTENCY_KEY_REUSED', 'this X-Idempotency-Key was used with another body')
}
