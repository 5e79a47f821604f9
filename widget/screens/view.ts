import type { Bank } from '../../src/wire/banks.ts'
import type { Checkout } from '../../src/wire/checkout.ts'
import type { FlowEvent, State } from '../flow.ts'
import type { Localization } from '../../src/lib/localization.ts'

/** The result of saving a payer's contact. */
export type ContactAnswer = 'kept' | 'known' | 'wrong' | 'failed'

/** The data of a screen. A screen is rebuilt from it and keeps nothing but text being typed. */
export type View = {
  state: State
  l10n: Localization
  /** Whether this is a phone or tablet, which may have the bank's app. */
  isTouch: boolean
  isTablet: boolean
  /** Whether the payer goes to the bank in the shop's tab. */
  sameTab: boolean
  /** The bank of the Quick Pay tile. */
  preferred: Bank | undefined
  send(event: FlowEvent): void
  leaveContact(text: string): Promise<ContactAnswer>
}

/** The values of the texts' placeholders. */
export function paramsOf({ state: { checkout, bank }, l10n }: View): Record<string, string> {
  return {
    merchant: checkout?.merchant_name ?? '',
    amount: checkout === undefined ? '' : amountOf(checkout, l10n),
    bank: bank?.name ?? '',
  }
}

export function amountOf({ amount, currency }: Checkout, l10n: Localization): string {
  return l10n.money(amount, currency)
}

/** Fills payee, amount and bank into a text of the locale. */
export function fillText(view: View, text: string): string {
  return view.l10n.fill(text, paramsOf(view))
}
