import type { el } from '../dom.ts'
import { receipt } from '../../src/lib/locales/checkout/en-receipt.ts'
import type { ReceiptTexts } from '../../src/lib/locales/checkout/en-receipt.ts'
import type { Texts } from '../../src/lib/locales/checkout/en.ts'
import type { rows } from './parts.ts'
import type { ContactAnswer, View } from './view.ts'

/** What makes elements: passed, because an import of them would split the widget's first script in two. */
type Parts = { el: typeof el; rows: typeof rows }

/** English has its texts of the receipt here; other languages bring theirs. */
function textsOf({ l10n }: View): Texts & ReceiptTexts {
  return { ...receipt, ...l10n.texts }
}

/** What the payer paid, when, and under which reference. */
export function receiptAmounts(view: View, { rows }: Parts): HTMLElement[] {
  const { seen } = view.state
  const { money, moment } = view.l10n
  const texts = textsOf(view)
  if (seen === undefined) return []
  return [
    rows([
      [texts.gross, money(seen.gross_amount, seen.currency)],
      [texts.date, moment(seen.updated_at)],
      [texts.reference, seen.end_to_end_id],
    ]),
  ]
}

/** The contact, and how the shop is paid. */
export function receiptMore(view: View, parts: Parts): HTMLElement[] {
  return [printLink(view, parts), contactForm(view, parts), ...sharesOf(view, parts)]
}

/** A frame can't print itself alone, and its sandbox opens no dialog: the service's page of the payment is the receipt. */
function printLink(view: View, { el }: Parts): HTMLElement {
  const { print, newTab } = textsOf(view)
  const query = new URLSearchParams({
    state: view.state.payment?.payment_state ?? '',
    lang: document.documentElement.lang,
  })
  const href = `/payments/return?${query}`
  // Browsers inside apps open no new tab.
  if (view.sameTab) return el('a', { class: 'back', href, target: '_top' }, print)
  const hidden = el('span', { class: 'hidden' }, newTab)
  return el('a', { class: 'back', href, target: '_blank', rel: 'noopener' }, print, ' ', hidden)
}

/** The fee is the shop's and not the payer's. Its further digits are rounded so that both parts make the whole. */
function sharesOf(view: View, { el, rows }: Parts): HTMLElement[] {
  const { seen } = view.state
  const { money } = view.l10n
  const texts = textsOf(view)
  if (seen === undefined) return []
  const { fee_amount, net_amount, currency } = seen
  const shares = rows([
    [texts.fee, money(fee_amount, currency, 'ceil')],
    [texts.net, money(net_amount, currency, 'floor')],
  ])
  return [el('details', {}, el('summary', {}, texts.shares), shares)]
}

/** Optional contact to find the payment again later (decision 41). */
function contactForm(view: View, { el }: Parts): HTMLElement {
  const texts = textsOf(view)
  const input = el('input', { id: 'contact', autocomplete: 'email', maxlength: 254, required: true })
  const status = el('p', { role: 'status', tabindex: -1 })
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
    const messages: Record<ContactAnswer, string> = {
      kept: texts.contactKept,
      known: texts.contactKnown,
      wrong: texts.contactWrong,
      failed: texts.failures.NETWORK,
    }
    status.textContent = messages[answer]
    input.setAttribute('aria-invalid', String(answer === 'wrong'))
    if (answer !== 'kept') return
    form.hidden = true
    // The button that had the focus is gone.
    status.focus()
    const target = view.sameTab ? '_top' : '_blank'
    status.append(' ', el('a', { href: '/hub', target, rel: 'noopener' }, texts.hub))
  }
  return el(
    'details',
    { class: 'contact' },
    el('summary', {}, texts.contactTitle),
    el('p', {}, texts.contactText),
    form,
    status,
  )
}
