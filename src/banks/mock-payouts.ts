import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { findByNumber } from '../accounts/find-by-number.ts'
import type { Identification } from '../accounts/sql.ts'
import { isOurs } from '../accounts/our-bank.ts'
import { settlementAccountOf } from '../accounts/settlement-account.ts'
import { bookTransfer } from '../accounts/transfer-sql.ts'
import type { TransferOutcome } from '../accounts/transfer-sql.ts'
import { IBAN, SORT_CODE_ACCOUNT_NUMBER } from '../lib/account-identification.ts'
import { isFailureCode } from '../lib/failure-codes.ts'
import type { FailureCode } from '../lib/failure-codes.ts'
import { hmacHex } from '../lib/hmac.ts'
import type { Ids } from '../lib/ids.ts'
import { amountToMinorUnits } from '../lib/minor-units.ts'
import { parseAmount } from '../lib/money.ts'
import type { PayoutOrder, PayoutOutcome, PayoutReturns } from './connector.ts'
import { countPayout } from './faults-sql.ts'
import { outcomeOfPayout } from './faults.ts'
import { faultSettingsOf } from './mock-faults.ts'
import {
  findPayoutBooking,
  forgetReturn,
  insertPayoutBooking,
  listDueReturns,
  listReturns,
  lockPayout,
  lockReturns,
  numberReturn,
} from './mock-payouts-sql.ts'
import type { PayoutBooking } from './mock-payouts-sql.ts'
import { failureOfTransfer } from './mock-transfer-failures.ts'

type BankContext = { pool: CommonQueryMethods; ids: Ids; secret: string }

const RETURNS_MAX = 100

/**
 * Sends a payout from the merchant's settlement account (decision 59) to the account that it names, of this bank or of
 * another, and books it. A repeat gets the first answer, and one with other terms is rejected.
 */
export async function bookPayout(bank: BankContext, order: PayoutOrder): Promise<PayoutOutcome> {
  const { merchantId, payerName: name, currency } = order
  const debtorAccountId = await settlementAccountOf(bank, { merchantId, name, currency })
  return bank.pool.transaction(async (tx) => {
    await lockPayout(tx, order.payoutId)
    const creditorHash = hmacHex(bank.secret, Buffer.from(`payout account\n${JSON.stringify(order.account)}`))
    const known = await findPayoutBooking(tx, order.payoutId)
    if (known !== null) return repeatedAnswer(known, order, creditorHash)
    return book(tx, bank, { order, creditorHash, debtorAccountId })
  })
}

function repeatedAnswer(known: PayoutBooking, order: PayoutOrder, creditorHash: string): PayoutOutcome {
  const isSame =
    known.creditor_hash === creditorHash &&
    known.merchant_id === order.merchantId &&
    known.currency === order.currency &&
    parseAmount(known.amount) === parseAmount(order.amount)
  if (!isSame) return { outcome: 'rejected', failureCode: 'DUPLICATE_PAYMENT' }
  const { bank_reference: bankReference, failure_code: failureCode } = known
  if (bankReference !== null) return { outcome: 'executed', bankReference }
  if (failureCode === null || !isFailureCode(failureCode)) throw new Error('a rejected payout has no failure code')
  return { outcome: 'rejected', failureCode }
}

type NewBooking = { order: PayoutOrder; creditorHash: string; debtorAccountId: string }

async function book(
  tx: DatabaseTransactionConnection,
  bank: BankContext,
  { order, creditorHash, debtorAccountId }: NewBooking,
): Promise<PayoutOutcome> {
  const counted = await countPayout(tx, order.merchantId)
  const fate = counted === null ? 'paid' : outcomeOfPayout(faultSettingsOf(counted), counted.payouts)
  const creditor = await findCreditor(tx, order)
  const failureCode = fate === 'failed' ? 'BANK_ERROR' : await moveMoney(tx, { order, debtorAccountId, creditor })
  const bankReference =
    failureCode === undefined
      ? `MB${bank.ids.for('payout at the bank', order.payoutId).uuid().replaceAll('-', '')}`
      : null
  await insertPayoutBooking(tx, {
    ...order,
    creditorHash,
    debtorAccountId,
    creditorAccountId: creditor === 'unknown' ? null : creditor,
    failureCode: failureCode ?? null,
    bankReference,
    willReturn: fate === 'returned' && failureCode === undefined,
  })
  if (bankReference !== null) return { outcome: 'executed', bankReference }
  return { outcome: 'rejected', failureCode: failureCode ?? 'BANK_ERROR' }
}

/** The account of this bank that is paid; null for one of another bank, `unknown` for a number that no account has. */
async function findCreditor(
  tx: CommonQueryMethods,
  { account: { iban, sortCode, accountNumber } }: PayoutOrder,
): Promise<string | null | 'unknown'> {
  const named: Identification =
    iban === null
      ? { scheme: SORT_CODE_ACCOUNT_NUMBER, identification: sortCode + accountNumber }
      : { scheme: IBAN, identification: iban }
  if (!isOurs(named.identification)) return null
  return (await findByNumber(tx, named))?.id ?? 'unknown'
}

async function moveMoney(
  tx: CommonQueryMethods,
  { order, debtorAccountId, creditor }: { order: PayoutOrder; debtorAccountId: string; creditor: string | null },
): Promise<FailureCode | undefined> {
  const amountMinor = amountToMinorUnits(order.amount, order.currency)
  if (amountMinor === undefined) return 'BANK_ERROR'
  if (creditor === 'unknown' || creditor === debtorAccountId) return 'INVALID_CREDITOR_ACCOUNT'
  const outcome = await bookTransfer(tx, {
    id: order.payoutId,
    debtorAccountId,
    creditorAccountId: creditor,
    amountMinor,
    currency: order.currency,
    debtorName: order.payerName.slice(0, 140),
    creditorName: order.account.holderName.slice(0, 140),
    reference: order.endToEndId,
  })
  return failureOfTransfer(outcome, 'payout')
}

/** Returns what fault injection has come back, and the returns after a position. */
export async function readReturns(bank: BankContext, after: string | undefined): Promise<PayoutReturns> {
  return bank.pool.transaction(async (tx) => {
    await lockReturns(tx)
    for (const booking of await listDueReturns(tx, RETURNS_MAX)) await giveBack(tx, bank, booking)
    const found = await listReturns(tx, { after: after ?? '0', limit: RETURNS_MAX })
    return {
      returns: found.map((row) => ({
        payoutId: row.payout_id,
        merchantId: row.merchant_id,
        bankReference: row.bank_reference,
        failureCode: 'INVALID_CREDITOR_ACCOUNT',
      })),
      position: found.at(-1)?.return_ordinal.toString(),
    }
  })
}

/** Moves the money of a payout back; where the account has spent it, nothing comes back. */
async function giveBack(
  tx: DatabaseTransactionConnection,
  { ids }: BankContext,
  booking: PayoutBooking,
): Promise<void> {
  const amountMinor = amountToMinorUnits(booking.amount, booking.currency)
  if (amountMinor === undefined) throw new Error('a payout was executed that the bank cannot book')
  const outcome: TransferOutcome = await bookTransfer(tx, {
    id: ids.for('payout return at the bank', booking.payout_id).uuid(),
    debtorAccountId: booking.creditor_account_id,
    creditorAccountId: booking.debtor_account_id,
    amountMinor,
    currency: booking.currency,
    debtorName: null,
    creditorName: null,
    reference: 'Payout returned',
  })
  if (outcome === 'BOOKED') await numberReturn(tx, booking.payout_id)
  else await forgetReturn(tx, booking.payout_id)
}
