/** The sort code of this bank: its accounts begin with it. */
export const OUR_SORT_CODE = '000075'

/**
 * The 14 digits that a British IBAN of this bank ends in: sort code and account number. Undefined for others: of another
 * bank's code, the same digits are another account.
 */
export function ukNumberOf(iban: string): string | undefined {
  return /^GB\d{2}SVCB(\d{14})$/.exec(iban)?.[1]
}

/** Whether a number, in its one form, is one that this bank alone gives out: 14 digits, or a British IBAN of its bank code. */
export function isOurs(identification: string): boolean {
  return ukNumberOf(identification) !== undefined || identification.startsWith(OUR_SORT_CODE)
}

/** The external id of the customer that a sandbox has to try things with (sandbox/seed-customer.ts). */
export const DEMO_CUSTOMER = 'customer-demo'
