import { el } from '../dom.ts'
import { heading, paragraph, screenOf, backLink } from './parts.ts'
import { fillText } from './view.ts'
import type { View } from './view.ts'

/** ST-05 for a successful payment: amounts, date and reference. */
export function receiptScreen(view: View): HTMLElement {
  const { texts, money, moment } = view.l10n
  const { seen } = view.state
  const rows =
    seen === undefined
      ? []
      : [
          [texts.gross, money(seen.gross_amount, seen.currency)],
          [texts.fee, money(seen.fee_amount, seen.currency)],
          [texts.net, money(seen.net_amount, seen.currency)],
          [texts.date, moment(seen.updated_at)],
          [texts.reference, seen.end_to_end_id],
        ]
  return screenOf(
    el('div', { class: 'sign good', 'aria-hidden': 'true' }, '✓'),
    heading(texts.paidTitle),
    paragraph(fillText(view, texts.paidText)),
    el('dl', {}, ...rows.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, el('bdi', {}, value))))),
    backLink(view, { type: 'RETURN' }, 'button main'),
    contactForm(view),
  )
}

/** Optional contact to find the payment again later (decision 41). */
function contactForm(view: View): HTMLElement {
  const { texts } = view.l10n
  const input = el('input', { id: 'contact', autocomplete: 'email', maxlength: 254, required: true })
  const status = el('p', { role: 'status' })
  const form = el(
    'form',
    { novalidate: true, onsubmit: (event) => void save(event) },
    el('label', { for: 'contact' }, texts.contactLabel),
    input,
    el('button', { type: 'submit', class: 'plain' }, texts.contactSend),
  )
  async function save(event: Event): Promise<void> {
    event.preventDefault()
    const answer = input.value.trim() === '' ? 'wrong' : await view.leaveContact(input.value.trim())
    const messages = { kept: texts.contactKept, known: texts.contactKnown, wrong: texts.contactWrong }
    status.textContent = messages[answer]
    input.setAttribute('aria-invalid', String(answer === 'wrong'))
    if (answer !== 'kept') return
    form.hidden = true
    status.append(' ', el('a', { href: '/hub', target: '_blank', rel: 'noopener' }, texts.hub))
  }
  return el(
    'details',
    { class: 'contact' },
    el('summary', {}, texts.contactTitle),
    paragraph(texts.contactText),
    form,
    status,
  )
}
