import { composeIBAN } from 'ibantools'
import { OUR_SORT_CODE } from './our-bank.ts'

/** An account's number in the two forms of decision 8. */
export type AccountNumber = { sortCodeAccountNumber: string; iban: string }

/** How many numbers there are: eight digits of the account. */
export const ACCOUNT_NUMBER_COUNT = 100_000_000

/** Stands in our IBANs for the bank. */
const BANK_CODE = 'SVCB'

/** The account of this bank with this number. @throws when the number has more than eight digits */
export function accountNumber(number: number): AccountNumber {
  const sortCodeAccountNumber = OUR_SORT_CODE + String(number).padStart(8, '0')
  const iban = composeIBAN({ countryCode: 'GB', bban: BANK_CODE + sortCodeAccountNumber })
  if (iban === null) throw new Error(`${number} makes no account number`)
  return { sortCodeAccountNumber, iban }
}
