import { composeIBAN } from 'ibantools'
import { OUR_SORT_CODE } from './our-bank.ts'

/** An account's number in the two forms of decision 8. */
export type AccountNumber = { sortCodeAccountNumber: string; iban: string }

/** The number of account numbers: eight digits. */
export const ACCOUNT_NUMBER_COUNT = 100_000_000

/** The bank code in our IBANs. */
const BANK_CODE = 'SVCB'

/**
 * Both forms of an account number of this bank.
 * @throws when the number has more than eight digits
 */
export function accountNumber(number: number): AccountNumber {
  const sortCodeAccountNumber = OUR_SORT_CODE + String(number).padStart(8, '0')
  const iban = composeIBAN({ countryCode: 'GB', bban: BANK_CODE + sortCodeAccountNumber })
  if (iban === null) throw new Error(`${number} is not a valid account number`)
  return { sortCodeAccountNumber, iban }
}
