import { UnreadableFile, plainText, shown } from '../lib/file-text.ts'
import { CURRENCY_DIGITS, fitsCurrency, isAmountText, parseAmount, toNumeric } from '../lib/money.ts'

/** What a bank's file says, whatever its format. */
export type BankFile = {
  format: 'camt.053' | 'camt.054' | 'csv'
  statements: readonly BankStatement[]
}

export type BankStatement = {
  /** The bank's own name of the statement; of a CSV file, which has none, its first and last day. */
  reference: string
  /** In the spelling of `accountKey`: sort code and account number, or the IBAN of another country. */
  account: string
  opening: Balance | null
  closing: Balance | null
  lines: readonly BankLine[]
  /** Entries that the bank has announced and not booked: they are not money yet, and are left out. */
  unbookedCount: number
}

/** A balance as numeric(19,4) writes it, with a minus where the account is overdrawn. */
export type Balance = { amount: string; currency: string }

export type BankLine = {
  /** The bank's own day, `2026-11-22`. */
  bookedOn: string
  direction: 'CREDIT' | 'DEBIT'
  /** As numeric(19,4) writes it, above zero. */
  amount: string
  currency: string
  /** Whether it takes back an earlier line of the other direction. */
  isReversal: boolean
  /** The bank's name of the entry (`AcctSvcrRef`). */
  bankReference: string | null
  endToEndId: string | null
  /** The text that the payer, or the other bank, has written. */
  remittance: string | null
  /** Of money that came back: the code of its bank (`RtrInf`), such as `AC04`. */
  returnReason: string | null
}

/** The most lines of a file: a month of a busy account. */
export const LINES_MAX = 50_000

/** The most statements of a file, each of which takes several queries: a day of many accounts, or a month of thirty. */
export const STATEMENTS_MAX = 1_000

/** Nothing of such a file is imported. */
export function tooManyLines(): UnreadableFile {
  return new UnreadableFile(`the file has more than ${LINES_MAX} entries: import it in parts`)
}

/** @throws {UnreadableFile} for what is no amount of that currency, with at most 13 digits before the point */
export function moneyOf(text: string, currency: string, where: string): Pick<BankLine, 'amount' | 'currency'> {
  if (!/^[A-Z]{3}$/.test(currency))
    throw new UnreadableFile(`${where}: ${shown(currency)} is not a valid currency, such as GBP`)
  const trimmed = text.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, '')
  if (!isAmountText(trimmed))
    throw new UnreadableFile(`${where}: ${shown(text)} is not a valid amount, such as 1250.00`)
  const amount = parseAmount(trimmed)
  if (currency in CURRENCY_DIGITS && !fitsCurrency(amount, currency))
    throw new UnreadableFile(`${where}: ${shown(text)} has more decimals than ${currency} has`)
  return { amount: toNumeric(amount), currency }
}

/** Whether an amount that `moneyOf` wrote is nothing. */
export function isZero(amount: string): boolean {
  return /^[0.]+$/.test(amount)
}

/**
 * @param text `2026-11-22`, with or without a time behind it: the day is the bank's own, whatever the time zone
 * @throws {UnreadableFile} for what is no day of the calendar
 */
export function dayOf(text: string, where: string): string {
  const day = text.slice(0, 10)
  if (/^(19|20)\d\d-\d\d-\d\d$/.test(day) && isInCalendar(day)) return day
  throw new UnreadableFile(`${where}: ${shown(text)} is not a valid date`)
}

function isInCalendar(day: string): boolean {
  const at = new Date(`${day}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day)
}

/** What banks write where there is no name; ISO 20022 and SWIFT prescribe the first two. */
const NO_NAME = /^(NOT ?PROVIDED|NON-?REF|NO-?REF|NONE|NULL|N\/A|UNKNOWN|[0.\s-]+)$/i

/** The name of an entry or a payment; null where the bank has none: equal placeholders are not equal names. */
export function nameOf(text: string, lengthMax: number): string | null {
  const name = plainText(text, lengthMax)
  return name === null || NO_NAME.test(name) ? null : name
}
