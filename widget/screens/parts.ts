import type { Bank } from '../../src/wire/banks.ts'
import { logoOf } from '../branding.ts'
import { el } from '../dom.ts'
import type { Child } from '../dom.ts'
import type { FlowEvent } from '../flow.ts'
import type { Texts } from '../../src/lib/locales/checkout/en.ts'
import { amountOf, fillText } from './view.ts'
import type { View } from './view.ts'

/** A screen's heading. It gets the focus when the screen appears, so that it is read out. */
export function heading(text: string): HTMLElement {
  return el('h1', { tabindex: -1 }, text)
}

export function screenOf(...children: (Child | readonly Child[])[]): HTMLElement {
  return el('section', { class: 'screen' }, ...children)
}

export function mainButton(label: string, onclick: () => void): HTMLElement {
  return el('button', { type: 'button', class: 'main', onclick }, label)
}

export function plainButton(label: string, onclick: () => void): HTMLElement {
  return el('button', { type: 'button', class: 'plain', onclick }, label)
}

/** Ends this attempt, and asks for a bank again. */
export function otherBankButton(view: View): HTMLElement {
  return plainButton(view.l10n.texts.otherBank, () => view.send({ type: 'OTHER_BANK' }))
}

/** The link back to the shop. The parent page navigates, not the frame; the address is only for display. */
export function backLink(view: View, event: FlowEvent, className = 'back'): HTMLElement | undefined {
  const { checkout } = view.state
  if (checkout === undefined) return undefined
  const { texts } = view.l10n
  const onclick = (clicked: Event): void => {
    clicked.preventDefault()
    view.send(event)
  }
  const href = webAddress(checkout.return_url)
  const label = event.type === 'CANCEL' ? texts.cancel : texts.back
  return el('a', { class: className, href, target: '_top', onclick }, fillText(view, label))
}

/** The link to the bank's page: in a new tab without access to this one, or in the shop's. */
export function bankLink(view: View, label: string, className: string): HTMLElement {
  const href = webAddress(view.state.payment?.redirect_url ?? '')
  // A bank's app may open instead, and this page stays: it looks at the payment.
  if (view.sameTab) return el('a', { class: className, href, target: '_top' }, label)
  // The navigation must start before the link is removed with its screen.
  const onclick = (): unknown => setTimeout(() => view.send({ type: 'HAND_OVER' }), 0)
  const { newTab } = view.l10n.texts
  return el('a', { class: className, href, target: '_blank', rel: 'noopener', onclick }, label, ' ', hidden(newTab))
}

/** Text for screen readers only. */
export function hidden(text: string): HTMLElement {
  return el('span', { class: 'hidden' }, text)
}

/** Only web addresses may be used as links. */
export function webAddress(text: string): string | undefined {
  return /^https?:\/\//i.test(text) ? text : undefined
}

export function spinner(): HTMLElement {
  return el('div', { class: 'spinner', 'aria-hidden': 'true' })
}

export function paragraph(text: string, className?: string): HTMLElement {
  return el('p', { class: className }, text)
}

/** Names and their values. */
export function rows(pairs: readonly (readonly [string, string])[]): HTMLElement {
  return el(
    'dl',
    {},
    ...pairs.map(([name, value]) => el('div', {}, el('dt', {}, name), el('dd', {}, el('bdi', {}, value)))),
  )
}

/** A bank's logo, or its first letter without one. Some browsers load what has no `loading` as soon as it has a `src`. */
export function bankMark({ name, logo }: Bank): HTMLElement {
  const image = el('img', { loading: 'lazy', src: logo, alt: '', onerror: removeTarget })
  return el('span', { class: 'mark', 'aria-hidden': 'true' }, name.slice(0, 1), image)
}

/** The name, and that the bank does not answer where it doesn't, since when. */
export function bankName({ l10n: { texts, fill, time } }: View, bank: Bank): HTMLElement {
  const { name, available, unavailable_since: since } = bank
  const reason = since ? fill(texts.unavailableSince, { time: time(since) }) : texts.unavailable
  return el('span', {}, name, !available && el('small', {}, reason))
}

/** Details for the shop's developer, in English. */
export function developerDetails(texts: Texts, message: string, code?: string): HTMLElement {
  const details = el('p', { lang: 'en', dir: 'ltr' }, message, ' ', code !== undefined && el('code', {}, code))
  return el('details', {}, el('summary', {}, texts.developer), details)
}

/** Payee and amount, above every screen. */
export function orderSummary(view: View): HTMLElement | undefined {
  const { checkout } = view.state
  if (checkout === undefined) return undefined
  const { texts } = view.l10n
  const address = logoOf(checkout.branding)
  return el(
    'div',
    { class: 'order' },
    address &&
      el('img', { class: 'logo', src: address, alt: '', referrerpolicy: 'no-referrer', onerror: removeTarget }),
    el(
      'p',
      { class: 'payee' },
      hidden(texts.payTo),
      ' ',
      el('bdi', {}, checkout.merchant_name),
      checkout.shop_name !== checkout.merchant_name && el('small', {}, el('bdi', {}, checkout.shop_name)),
    ),
    el('p', { class: 'amount' }, amountOf(checkout, view.l10n)),
  )
}

/** An image that does not load leaves no trace. */
function removeTarget({ target }: Event): void {
  ;(target as Element).remove()
}

/** Help, below every screen in the same place. */
export function helpSection(view: View): HTMLElement | undefined {
  const { texts } = view.l10n
  const { checkout } = view.state
  if (checkout === undefined) return undefined
  return el(
    'div',
    { class: 'help' },
    el('details', {}, el('summary', {}, texts.help), paragraph(fillText(view, texts.helpText)), paragraph(texts.safe)),
    checkout.mode === 'sandbox' && paragraph(texts.testMode),
  )
}
