/** The sort code of this bank: all its account numbers begin with it. */
export const OUR_SORT_CODE = '000075'

/**
 * The 14 digits that a British IBAN of this bank ends in: sort code and account number. Undefined for other IBANs: with
 * another bank code, the same digits are another account.
 */
export function ukNumberOf(iban: string): string | undefined {
  return /^GB\d{2}SVCB(\d{14})$/.exec(iban)?.[1]
}

/**
 * Whether a normalised number belongs to this bank: 14 digits with its sort code, or a British IBAN with its bank code.
 */
export function isOurs(identification: string): boolean {
  return ukNumberOf(identification) !== undefined || identification.startsWith(OUR_SORT_CODE)
}

/** The external id of the sandbox's demo customer (sandbox/seed-customer.ts). */
export const DEMO_CUSTOMER = 'customer-demo'
