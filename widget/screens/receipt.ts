import { el } from '../dom.ts'
import { backLink, heading, paragraph, rows, screenOf } from './parts.ts'
import { fillText } from './view.ts'
import type { View } from './view.ts'

/**
 * ST-05 for a successful payment. Amounts, date and reference, the contact and the shop's fee are loaded now: nothing
 * before needs them, and without them the payer still reads that the payment is complete.
 */
export function receiptScreen(view: View): HTMLElement {
  const { texts } = view.l10n
  const [amounts, more] = [el('div'), el('div')]
  void import('./receipt-details.ts').then(
    ({ receiptAmounts, receiptMore }) => {
      amounts.replaceChildren(...receiptAmounts(view, { el, rows }))
      more.replaceChildren(...receiptMore(view, { el, rows }))
    },
    () => undefined,
  )
  return screenOf(
    el('div', { class: 'sign good', 'aria-hidden': 'true' }, '✓'),
    heading(texts.paidTitle),
    paragraph(fillText(view, texts.paidText)),
    amounts,
    backLink(view, { type: 'RETURN' }, 'button main'),
    more,
  )
}
