import type { z } from 'zod'
import { IBAN, SORT_CODE_ACCOUNT_NUMBER } from '../../src/lib/account-identification.ts'
import type { AccountIdentification, CurrencyAmount } from '../../src/wire/open-banking.ts'
import type { Flag } from '../kit/action.ts'

/** An amount as it is typed: a whole number gets the decimals that this API asks for, and nothing is ever rounded. */
export function amountOf({ amount, currency }: { amount: string; currency: string }): CurrencyAmount {
  return { Amount: /^\d+$/.test(amount) ? `${amount}.00` : amount, Currency: currency.toUpperCase() }
}

/** An account as it is typed: with letters in front it is an IBAN, else a sort code with an account number. */
export function accountOf(text: string, name?: string): z.input<typeof AccountIdentification> {
  const SchemeName = /^[a-z]{2}/i.test(text.trim()) ? IBAN : SORT_CODE_ACCOUNT_NUMBER
  return { SchemeName, Identification: text, ...(name === undefined ? {} : { Name: name }) }
}

/** What stands beside a payment in a statement, where something is to. */
export function remittanceOf(reference: string | undefined): { RemittanceInformation?: { Reference: string } } {
  return reference === undefined ? {} : { RemittanceInformation: { Reference: reference } }
}

/** How much, of everything that moves money. @param member of the request, in which both stand */
export function moneyFlags(member: string) {
  return {
    amount: {
      value: 'amount',
      summary: 'Decimal amount, such as 10.00',
      required: true,
      member: `${member}.Amount`,
    },
    currency: { value: 'code', summary: 'GBP or EUR', required: true, member: `${member}.Currency` },
  } as const satisfies Record<string, Flag>
}
