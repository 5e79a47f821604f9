import type { CommonQueryMethods } from 'slonik'
import { settlementAccountOf } from '../accounts/settlement-account.ts'
import { bookTransfer } from '../accounts/transfer-sql.ts'
import type { Transfer, TransferOutcome } from '../accounts/transfer-sql.ts'
import type { FailureCode } from '../lib/failure-codes.ts'
import type { Ids } from '../lib/ids.ts'
import { amountToMinorUnits } from '../lib/minor-units.ts'
import type { ExecutionOrder, ExecutionOutcome, RefundOrder, RefundOutcome } from './connector.ts'
import { failureOfTransfer } from './mock-transfer-failures.ts'
import {
  callTakeMoney,
  findCredit,
  findRefundable,
  findRefusal,
  insertCredit,
  insertRefusal,
  lockAuthorisation,
} from './mock-sql.ts'
import type { Authorisation } from './mock-sql.ts'

type BankContext = { pool: CommonQueryMethods; ids: Ids }

/**
 * Takes a payment's gross amount from the payer's account for the merchant's settlement account (decision 59), and
 * books the debit with it. A repeat gets the same answer, also for a rejected payment.
 */
export async function takeMoney(
  { pool, ids }: BankContext,
  order: ExecutionOrder,
  { payee_id: merchantId, payee_name: name, debtor_account_id: payerAccountId }: Authorisation,
): Promise<ExecutionOutcome> {
  const amountMinor = amountToMinorUnits(order.amount, order.currency)
  if (amountMinor === undefined && merchantId !== null) return { outcome: 'rejected', failureCode: 'BANK_ERROR' }
  const owner = { name, currency: order.currency }
  const merchantAccountId =
    merchantId === null ? null : await settlementAccountOf({ pool, ids }, { merchantId, ...owner })
  if (payerAccountId !== null && payerAccountId === merchantAccountId)
    return { outcome: 'rejected', failureCode: 'INVALID_DEBTOR_ACCOUNT' }
  const { outcome, reference } = await callTakeMoney(pool, order, {
    amountMinor: amountMinor ?? null,
    merchantAccountId,
  })
  if (outcome === 'DUPLICATE') return { outcome: 'rejected', failureCode: 'DUPLICATE_PAYMENT' }
  const failureCode = failureOfTransfer(outcome, 'payment')
  if (failureCode !== undefined) return { outcome: 'rejected', failureCode }
  return { outcome: 'executed', bankReference: reference }
}

/**
 * Returns money to the account it came from, in one transaction with the credit. Debits from before the bank had
 * accounts are refunded without a transfer.
 * @param failureOf why the scenario rejects refunds of this payment, if it does
 */
export async function refundMoney(
  { pool, ids }: BankContext,
  order: RefundOrder,
  failureOf: (authorisation: Authorisation) => FailureCode | undefined,
): Promise<RefundOutcome> {
  const bankReference = `MB${ids.for('refund at the bank', order.refundId).uuid().replaceAll('-', '')}`
  const amountMinor = amountToMinorUnits(order.amount, order.currency)
  return pool.transaction(async (tx) => {
    const authorisation = await lockAuthorisation(tx, order.state)
    if (authorisation === null) return { outcome: 'refused', failureCode: 'BANK_ERROR' }
    const known = await findCredit(tx, order.refundId)
    if (known !== null && known.payment_id !== order.paymentId)
      return { outcome: 'refused', failureCode: 'DUPLICATE_PAYMENT' }
    if (known !== null) return { outcome: 'executed', bankReference: known.bank_reference }
    const failure = failureOf(authorisation)
    if (failure) return { outcome: 'refused', failureCode: failure }
    const debit = await findRefundable(tx, order)
    if (debit === null) return { outcome: 'refused', failureCode: 'BANK_ERROR' }
    if (!debit.fits) return { outcome: 'refused', failureCode: 'LIMIT_EXCEEDED' }
    const { creditor_account_id: merchantAccountId } = debit
    if (merchantAccountId !== null && amountMinor === undefined)
      return { outcome: 'refused', failureCode: 'BANK_ERROR' }
    const outcome = await moveRefund(tx, {
      id: order.refundId,
      debtorAccountId: merchantAccountId,
      creditorAccountId: debit.debtor_account_id,
      // Not used when no money moves between accounts.
      amountMinor: amountMinor ?? 0n,
      currency: order.currency,
      debtorName: authorisation.payee_name,
      creditorName: authorisation.debtor_name,
      reference: authorisation.remittance_reference ?? authorisation.end_to_end_id,
    })
    const failureCode = failureOfTransfer(outcome, 'refund')
    if (failureCode !== undefined) return { outcome: 'refused', failureCode }
    await insertCredit(tx, order, bankReference)
    return { outcome: 'executed', bankReference }
  })
}

/** Moves a refund's money, or records why it did not move, so that a repeat gets the same answer. */
async function moveRefund(tx: CommonQueryMethods, transfer: Transfer): Promise<TransferOutcome> {
  // No account was credited: the debit is older than the accounts.
  if (transfer.debtorAccountId === null) return 'BOOKED'
  const known = await findRefusal(tx, transfer.id)
  if (known !== null) return known.outcome
  const outcome = await bookTransfer(tx, transfer)
  if (outcome !== 'OTHER_TRANSFER' && failureOfTransfer(outcome, 'refund') !== undefined)
    await insertRefusal(tx, { id: transfer.id, outcome })
  return outcome
}
