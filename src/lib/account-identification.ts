import { isValidIBAN } from 'ibantools'

/** The identification schemes of accounts (decision 8). */
export const SORT_CODE_ACCOUNT_NUMBER = 'UK.OBIE.SortCodeAccountNumber'
export const IBAN = 'UK.OBIE.IBAN'
export const SCHEME_NAMES = [SORT_CODE_ACCOUNT_NUMBER, IBAN] as const
export type SchemeName = (typeof SCHEME_NAMES)[number]

/**
 * The scheme of this name, which may lack its prefix as in earlier versions of the standard; undefined for other names.
 */
export function schemeOf(text: string): SchemeName | undefined {
  return SCHEME_NAMES.find((name) => name === text || name === `UK.OBIE.${text}`)
}

/**
 * The normalised form of an account's identification: 14 digits, or an IBAN in capitals without spaces. Undefined for
 * an invalid one: too few digits, or an IBAN whose country, length or check digits are wrong.
 */
export function normalIdentification(scheme: SchemeName, text: string): string | undefined {
  if (scheme === SORT_CODE_ACCOUNT_NUMBER) {
    const digits = text.replaceAll(/[ -]/g, '')
    return /^\d{14}$/.test(digits) ? digits : undefined
  }
  const iban = text.replaceAll(' ', '').toUpperCase()
  return isValidIBAN(iban) ? iban : undefined
}

/**
 * One spelling of an account, whatever form a bank writes it in, so that one account is never taken for two: capitals
 * without spaces and hyphens, and of a British IBAN the sort code and account number. An IBAN that is not valid stays one.
 */
export function accountKey(text: string): string {
  const plain = text.replaceAll(/[\s-]/g, '').toUpperCase()
  return plain.startsWith('GB') && isValidIBAN(plain) ? plain.slice(8) : plain
}

/** A normalised identification, formatted for people: `00-00-75 12345678`, `GB33 BUKB 2020 1555 5555 55`. */
export function identificationText(scheme: SchemeName, identification: string): string {
  return scheme === SORT_CODE_ACCOUNT_NUMBER
    ? identification.replace(/^(\d{2})(\d{2})(\d{2})/, '$1-$2-$3 ')
    : identification.replaceAll(/.{4}(?=.)/g, '$& ')
}
