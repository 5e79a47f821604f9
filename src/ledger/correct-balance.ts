import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { DomainError, invalidField } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { formatNumeric, parseAmount, toNumeric } from '../lib/money.ts'
import { findMerchantRow } from '../merchants/admin-sql.ts'
import { merchantNotFound } from '../merchants/change-merchant.ts'
import { findCorrectionOfKey, insertCorrection, lockNamedPayment } from './corrections-sql.ts'
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
  /** The payment that had failed when its bank settled it: all that name it add its amount at most. */
  paymentId?: string | undefined
  reason: string
  idempotencyKey?: string | undefined
  actor: Actor
}

/**
 * Adds to what a merchant is owed, or takes from it, where no payment, refund or payout is the reason.
 * @throws {DomainError} MERCHANT_NOT_FOUND, PAYMENT_NOT_FOUND, IDEMPOTENCY_KEY_REUSED; VALIDATION_FAILED for a payment that has
 *   not failed, is of another currency or of less, or is credited already
 */
export async function correctBalance(
  app: Pick<App, 'pool' | 'ids'>,
  input: CorrectBalanceInput,
): Promise<CorrectionRecord> {
  const { merchantId } = input
  if (!isUuid(merchantId)) throw merchantNotFound()
  return app.pool.transaction(async (tx) => {
    if ((await findMerchantRow(tx, merchantId)) === null) throw merchantNotFound()
    await checkPayment(tx, input)
    return (await correctBalanceIn(tx, app, input)) ?? (await madeBefore(tx, input))
  })
}

/** Checks the payment that a correction names, unless its key has a correction: a repeated request finds all of it added. */
async function checkPayment(
  tx: DatabaseTransactionConnection,
  { merchantId, paymentId, amount, currency, idempotencyKey }: CorrectBalanceInput,
): Promise<void> {
  if (paymentId === undefined) return
  const payment = isUuid(paymentId) ? await lockNamedPayment(tx, { merchantId, paymentId }) : null
  if (payment === null) throw new DomainError('PAYMENT_NOT_FOUND', 'payment not found at this merchant')
  if ((await findCorrectionOfKey(tx, { merchantId, idempotencyKey: idempotencyKey ?? null })) !== null) return
  if (payment.status !== 'Failed')
    throw invalidField('payment_id', 'MISMATCH', `must be a Failed payment, and is ${payment.status}`)
  if (payment.currency !== currency)
    throw invalidField('currency', 'MISMATCH', `must be ${payment.currency}, as of the payment`)
  const left = parseAmount(payment.gross_amount) - parseAmount(payment.added)
  if (left === 0n)
    throw invalidField('payment_id', 'ALREADY_THERE', 'is in the balance already, by the corrections that name it')
  if (parseAmount(amount) > left)
    throw invalidField(
      'amount',
      'MISMATCH',
      `must be at most ${formatNumeric(toNumeric(left), currency)}, the part of the payment that no correction has added`,
    )
}

/** The same in the caller's transaction, for a merchant that there is. Null where the key or the refund has a correction. */
export async function correctBalanceIn(
  tx: DatabaseTransactionConnection,
  app: Pick<App, 'ids'>,
  { actor, reason, ...input }: CorrectBalanceInput & { refundId?: string },
): Promise<CorrectionRecord | null> {
  const { merchantId, bookedAgainst, idempotencyKey = null, refundId = null } = input
  const after = correctionOf(input)
  const of = { id: app.ids.uuid(), merchant_id: merchantId, created_by: actor.name, idempotencyKey, refundId }
  const made = await insertCorrection(tx, { ...after, ...of })
  if (made === null) return null
  const { id: subjectId, currency } = made
  const isTaken = after.amount.startsWith('-')
  const amount = isTaken ? after.amount.slice(1) : after.amount
  const sides = isTaken
    ? { debit: 'clearing' as const, credit: bookedAgainst }
    : { debit: bookedAgainst, credit: 'clearing' as const }
  await postMovements(tx, [{ merchantId, subjectId, movement: 'correction', amount, currency, ...sides }])
  await recordAction(app, tx, { actor, action: 'balance.correct', merchantId, subjectId, reason, after })
  return made
}

type NewCorrection = Pick<CorrectionRecord, 'currency' | 'amount' | 'booked_against' | 'reference' | 'payment_id'>

function correctionOf(input: Omit<CorrectBalanceInput, 'actor' | 'reason'>): NewCorrection {
  const { amount: text, currency, bookedAgainst, reference, paymentId } = input
  const amount = toNumeric(parseAmount(text.replace(/^-/, '')))
  return {
    currency,
    amount: text.startsWith('-') ? `-${amount}` : amount,
    booked_against: bookedAgainst,
    reference: reference ?? null,
    payment_id: paymentId ?? null,
  }
}

/** The correction that the key has, if it is this one. */
async function madeBefore(tx: DatabaseTransactionConnection, input: CorrectBalanceInput): Promise<CorrectionRecord> {
  const { merchantId, idempotencyKey = null } = input
  const known = await findCorrectionOfKey(tx, { merchantId, idempotencyKey })
  if (known === null) throw new Error('the correction of a key is missing')
  return sameCorrection(known, correctionOf(input))
}

function sameCorrection(known: CorrectionRecord, wanted: NewCorrection): CorrectionRecord {
  const isSame = Object.entries(wanted).every(([name, value]) => known[name as keyof CorrectionRecord] === value)
  if (isSame) return known
  throw new DomainError('IDEMPOTENCY_KEY_REUSED', 'this X-Idempotency-Key was used with another body')
}
