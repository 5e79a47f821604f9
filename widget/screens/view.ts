import type { Bank } from '../../src/wire/banks.ts'
import type { Checkout } from '../../src/wire/checkout.ts'
import type { FlowEvent, State } from '../flow.ts'
import type { Localization } from '../localization.ts'

/** How a contact that a payer left was taken. */
export type ContactAnswer = 'kept' | 'known' | 'wrong'

/** What a screen is made of. It is made anew from this and keeps nothing but what is being typed. */
export type View = {
  state: State
  l10n: Localization
  /** Whether this is the device that the bank's app is on. */
  isPhone: boolean
  /** The bank for the Quick Pay tile. */
  preferred: Bank | undefined
  send(event: FlowEvent): void
  leaveContact(text: string): Promise<ContactAnswer>
}

/** Where the texts' placeholders come from. */
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

/** A text of the locale with the payee, the amount and the bank in it. */
export function fillText(view: View, text: string): string {
  return view.l10n.fill(text, paramsOf(view))
}
