import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { BankUnavailableError, bankOf } from '../banks/connector.ts'
import type { BankConnector } from '../banks/connector.ts'
import { correctBalanceIn } from '../ledger/correct-balance.ts'
import { lockNamedPayment } from '../ledger/corrections-sql.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { amountWithCurrency, parseAmount } from '../lib/money.ts'
import { roleAllows } from '../lib/permissions.ts'
import type { PlatformRole } from '../lib/permissions.ts'
import type { ResolvePayment } from '../wire/console.ts'
import { postponeSettlement } from './claim-sql.ts'
import { paymentNotFound } from './get-payment.ts'
import { announceMove, movePaymentIn, transitionOf } from './move.ts'
import type { PaymentRecord } from './record.ts'
import { findPaymentById } from './sql.ts'
import { deleteUnanswered, findUnanswered, putOffUnanswered } from './unanswered-sql.ts'

export type ResolvePaymentInput = ResolvePayment & { id: string; actor: Actor; role: PlatformRole }

/** How long a bank may take to confirm its id of a payment. */
const CONFIRM_TIMEOUT_MS = 5_000

/**
 * Records what an operator has found out about a payment whose order the bank never answered (decision 273), or that it
 * settled after the payment had failed (decision 278). What the bank has taken is not believed: from then on the bank is
 * asked for it by its id, and says itself whether it settled; after three days without that, it is a task again. What it has
 * not taken fails the payment.
 * Only an OWNER says CREDITED, since that corrects a balance (decision 412).
 * @throws {DomainError} FORBIDDEN_ROLE; PAYMENT_NOT_FOUND; PAYMENT_NOT_RESOLVABLE for a payment that does not wait for this,
 * or whose bank has another order under that id; BANK_UNAVAILABLE when the bank does not confirm the id now
 */
export async function resolvePayment(app: App, input: ResolvePaymentInput): Promise<void> {
  if (input.outcome === 'CREDITED' && !roleAllows(input.role, 'administer platform'))
    throw new DomainError('FORBIDDEN_ROLE', "only an OWNER can add the money to the merchant's balance", {
      next: 'ask an OWNER, or record that the payer gets the money back: RETURNED',
    })
  const payment = isUuid(input.id) ? await findPaymentById(app.pool, input.id) : null
  if (payment === null) throw paymentNotFound()
  const known = await findUnanswered(app.pool, payment.id)
  if (known === null) throw notWaiting(payment)
  if (input.outcome === 'TAKEN' || input.outcome === 'NOT_TAKEN') {
    if (known.bank_reference !== null) throw isSettledLate(payment)
    return input.outcome === 'TAKEN' ? adopt(app, payment, input) : fail(app, payment, input)
  }
  if (known.bank_reference === null) throw notSettledLate(payment)
  await placeMoney(app, payment, input)
}

function isSettledLate({ status }: PaymentRecord): DomainError {
  const message = 'its bank has settled it after it had failed: the money is RETURNED, or CREDITED'
  return new DomainError('PAYMENT_NOT_RESOLVABLE', message, { current: { status } })
}

function notSettledLate({ status }: PaymentRecord): DomainError {
  const message = 'its bank has not said that it has settled it: the bank has TAKEN the order, or NOT_TAKEN it'
  return new DomainError('PAYMENT_NOT_RESOLVABLE', message, { current: { status } })
}

function notWaiting({ status }: PaymentRecord): DomainError {
  return new DomainError('PAYMENT_NOT_RESOLVABLE', `the payment is ${status}, and waits for no answer of its bank`, {
    current: { status },
  })
}

async function adopt(
  app: App,
  payment: PaymentRecord,
  { bank_payment_id: bankPaymentId, reason, actor }: ResolvePaymentInput & { outcome: 'TAKEN' },
): Promise<void> {
  const { id, merchant_id: merchantId } = payment
  const { unanswered } = bankOf(app.banks, payment.bank_connector)
  const order = { paymentId: id, bankPaymentId }
  if (unanswered === undefined || !(await isConfirmed(unanswered, order))) throw anotherOrder(bankPaymentId)
  await app.pool.transaction(async (tx) => {
    if (!(await putOffUnanswered(tx, id))) throw notWaiting(payment)
    if (!(await unanswered.note(tx, order))) throw anotherOrder(bankPaymentId)
    await postponeSettlement(tx, { merchantId, id, seconds: 0 })
    const after = { outcome: 'TAKEN', bank_payment_id: bankPaymentId }
    await recordAction(app, tx, { actor, action: 'payment.resolve', merchantId, subjectId: id, reason, after })
  })
  app.wake.notify('settle-payments')
}

async function isConfirmed(
  unanswered: NonNullable<BankConnector['unanswered']>,
  order: { paymentId: string; bankPaymentId: string },
): Promise<boolean> {
  try {
    return await unanswered.isOrder(order, AbortSignal.timeout(CONFIRM_TIMEOUT_MS))
  } catch (error) {
    if (!(error instanceof BankUnavailableError)) throw error
    throw new DomainError('BANK_UNAVAILABLE', 'the bank does not confirm this id: check it, and repeat the request', {
      cause: error,
      next: 'a bank to which you are another client now confirms none: credit what it settled from its statement',
    })
  }
}

function anotherOrder(bankPaymentId: string): DomainError {
  const message = `the bank has another payment under the id ${bankPaymentId}`
  return new DomainError('PAYMENT_NOT_RESOLVABLE', message, {
    errors: [{ path: 'bank_payment_id', code: 'ANOTHER_PAYMENT', message }],
  })
}

async function fail(
  app: App,
  payment: PaymentRecord,
  { failure_code: failureCode, reason, actor }: ResolvePaymentInput & { outcome: 'NOT_TAKEN' },
): Promise<void> {
  const { id, merchant_id: merchantId } = payment
  const from = 'Authorised'
  const on = 'execution rejected'
  await app.pool.transaction(async (tx) => {
    const isFirst = (await deleteUnanswered(tx, id)) !== null
    const rawPayload = JSON.stringify({ operation: 'resolvePayment', reason: 'the bank has not taken the payment' })
    const moved = { merchantId, paymentId: id, from, on, rawPayload, failureCode } as const
    if (!isFirst || (await movePaymentIn(tx, app, moved)).outcome !== 'MOVED') throw notWaiting(payment)
    const after = { outcome: 'NOT_TAKEN', failure_code: failureCode }
    await recordAction(app, tx, { actor, action: 'payment.resolve', merchantId, subjectId: id, reason, after })
  })
  announceMove(app, transitionOf({ from, on }), id)
}

/**
 * The payment stays Failed, and so in no settlement: what is credited is a correction of the balance (decision 267). Where
 * corrections name the payment already, nothing is added: the OWNER knew what the bank has booked (decision 438).
 */
async function placeMoney(
  app: App,
  payment: PaymentRecord,
  { outcome, reason, actor }: ResolvePaymentInput & { outcome: 'RETURNED' | 'CREDITED' },
): Promise<void> {
  const { id, merchant_id: merchantId, gross_amount: amount, currency } = payment
  await app.pool.transaction(async (tx) => {
    const known = await deleteUnanswered(tx, id)
    if (known === null) throw notWaiting(payment)
    const named = await lockNamedPayment(tx, { merchantId, paymentId: id })
    if (named === null) throw paymentNotFound()
    const isAdded = parseAmount(named.added) > 0n
    if (outcome === 'RETURNED' && isAdded) throw alreadyAdded(payment, named.added)
    if (outcome === 'CREDITED' && !isAdded) {
      const reference = `payment ${id} was paid after it had failed`
      const of = { merchantId, paymentId: id, amount, currency, bookedAgainst: 'bank', reference } as const
      await correctBalanceIn(tx, app, { ...of, reason, actor })
    }
    const amounts =
      outcome === 'CREDITED' ? { added_amount: isAdded ? '0.0000' : amount, corrected_before: named.added } : {}
    const after = { outcome, bank_reference: known.bank_reference, ...amounts }
    await recordAction(app, tx, { actor, action: 'payment.resolve', merchantId, subjectId: id, reason, after })
  })
}

function alreadyAdded({ status, currency }: PaymentRecord, added: string): DomainError {
  const message = `corrections have added ${amountWithCurrency(added, currency)} of it to the balance`
  return new DomainError('PAYMENT_NOT_RESOLVABLE', message, {
    current: { status },
    next: 'an OWNER records CREDITED, which adds nothing more; what is sent back all the same is taken by svc merchants correct',
  })
}
