import type { PayerConsent } from '../../src/wire/payer.ts'
import { el } from '../dom.ts'
import type { Hub } from './hub-context.ts'
import { loadView } from './load-view.ts'
import { alertBox, fact } from './parts.ts'
import { hashOf } from './routes.ts'

/** The active mandates with their remaining limits. */
export async function showPermissions(hub: Hub, notice?: string): Promise<void> {
  const { permissions: texts } = hub.texts
  await loadView(hub, {
    title: texts.title,
    load: hub.api.listConsents,
    render: ({ data }) => {
      hub.announce([notice, data.length === 0 ? texts.empty : texts.count(data.length)].filter(Boolean).join(' '))
      const box = notice !== undefined && alertBox('good', notice)
      if (data.length === 0)
        return [box, el('p', { class: 'empty' }, texts.empty), el('p', { class: 'soft' }, texts.emptyHint)]
      return [box, el('p', {}, texts.lead), ...data.map((consent) => card(hub, consent))]
    },
  })
}

function card(hub: Hub, consent: PayerConsent): HTMLElement {
  const { format } = hub
  const { permissions: texts } = hub.texts
  const last = consent.last_payment_at
  const count = format.count(consent.payment_count)
  return el(
    'section',
    { class: 'card' },
    el('h2', {}, consent.merchant_name),
    el(
      'dl',
      {},
      fact(texts.perPayment, texts.upTo(format.money(consent.max_amount_per_payment, consent.currency))),
      ...allowances(hub, consent),
      fact(texts.until, el('time', { datetime: consent.valid_to }, format.day(consent.valid_to))),
      fact(texts.payments, last === null ? count : `${count}, ${texts.last(format.day(last))}`),
      fact(texts.since, el('time', { datetime: consent.created_at }, format.day(consent.created_at))),
      fact(texts.bank, consent.bank_name),
      fact(hub.texts.checkout.reference, consent.remittance_reference),
    ),
    !consent.caps_enforced && el('p', { class: 'hint' }, texts.notEnforced),
    el(
      'div',
      { class: 'actions' },
      el(
        'a',
        {
          class: 'button danger',
          href: hashOf({ name: 'cancel', id: consent.consent_id }),
          'aria-label': texts.cancelFor(consent.merchant_name),
        },
        texts.cancel,
      ),
    ),
  )
}

function allowances({ format, texts: { permissions: texts } }: Hub, consent: PayerConsent): (HTMLElement | null)[] {
  const money = (amount: string): string => format.money(amount, consent.currency)
  return consent.allowances.map((allowance) => {
    const [, known] = Object.entries(texts.periods).find(([name]) => name === allowance.period.toUpperCase()) ?? []
    return fact(
      capitalised(known ?? texts.everyOther(allowance.period)),
      texts.allowance(money(allowance.remaining_amount), money(allowance.max_amount)),
      el('br'),
      el('span', { class: 'soft' }, texts.renews(format.day(allowance.resets_at))),
    )
  })
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** The message for a permission that has already ended. */
export function endedBox({ texts: { permissions: texts } }: Hub): HTMLElement[] {
  return [alertBox('note', texts.gone), el('p', {}, el('a', { href: '#permissions' }, texts.title))]
}
