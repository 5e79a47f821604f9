import { electronicFormatIBAN, validateIBAN } from 'ibantools'
import { DomainError } from '../lib/errors.ts'
import type { FieldError } from '../lib/errors.ts'

/** An account's numbers as stored: digits only, and an IBAN without spaces. */
export type AccountNumbers = { sortCode: string; accountNumber: string; iban: string | null }

export type AccountNumbersInput = { sort_code: string; account_number: string; iban?: string | undefined }

/**
 * Validates the numbers by their form; no bank is asked. The messages do not repeat them, because errors are logged and
 * shown.
 * @throws {DomainError} VALIDATION_FAILED with every invalid field
 */
export function checkAccount(typed: AccountNumbersInput): AccountNumbers {
  const sortCode = typed.sort_code.replaceAll(/[\s-]/g, '')
  const accountNumber = typed.account_number.replaceAll(/\s/g, '')
  const iban = typed.iban === undefined ? null : (electronicFormatIBAN(typed.iban.replaceAll(/\s/g, '')) ?? '')
  const numbers = { sortCode, accountNumber, iban }
  const errors = [sortCodeError(sortCode), accountNumberError(accountNumber)].filter((error) => error !== undefined)
  const ofIban = iban === null ? undefined : ibanError(numbers, typed.iban ?? '', errors.length === 0)
  const all = ofIban === undefined ? errors : [...errors, ofIban]
  if (all.length === 0) return numbers
  throw new DomainError('VALIDATION_FAILED', all.map(({ path, message }) => `${path}: ${message}`).join('; '), {
    errors: all,
  })
}

function sortCodeError(sortCode: string): FieldError | undefined {
  const path = 'sort_code'
  if (!/^\d{6}$/.test(sortCode)) return { path, code: 'INVALID', message: 'must be 6 digits, such as 12-34-56' }
  if (/^0+$/.test(sortCode)) return { path, code: 'INVALID', message: 'must not be all zeros' }
  return undefined
}

function accountNumberError(accountNumber: string): FieldError | undefined {
  const path = 'account_number'
  if (/^\d{6,7}$/.test(accountNumber))
    return { path, code: 'TOO_SHORT', message: 'must be 8 digits; add leading zeros to a shorter number' }
  if (!/^\d{8}$/.test(accountNumber)) return { path, code: 'INVALID', message: 'must be 8 digits' }
  if (/^0+$/.test(accountNumber)) return { path, code: 'INVALID', message: 'must not be all zeros' }
  return undefined
}

/**
 * Checks country, length, form and check digits. A British IBAN must contain the given sort code and account number.
 */
function ibanError(
  { sortCode, accountNumber, iban }: AccountNumbers,
  typed: string,
  canCompare: boolean,
): FieldError | undefined {
  const path = 'iban'
  // The library ignores hyphens and dots, so a typing mistake could become another account's number.
  const isPlain = iban !== null && /^[A-Z0-9]+$/i.test(typed.replaceAll(/\s/g, ''))
  if (!isPlain || !validateIBAN(iban).valid)
    return { path, code: 'INVALID', message: 'must be a valid IBAN: its country, length or check digits are wrong' }
  if (!canCompare || !iban.startsWith('GB')) return undefined
  if (iban.slice(8) === sortCode + accountNumber) return undefined
  return { path, code: 'MISMATCH', message: 'must match the sort code and account number' }
}
