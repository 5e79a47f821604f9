import { payerStatusText } from '../../src/lib/payment-status.ts'
import type { PayerPayment } from '../../src/wire/payer.ts'
import { el } from '../dom.ts'
import type { Hub } from './hub-context.ts'
import { loadView } from './load-view.ts'
import { hashOf, routeOf } from './routes.ts'

const LISTED_MAX = 50

/** The payer's latest payments by month. */
export async function showPayments(hub: Hub): Promise<void> {
  const { payments: texts } = hub.texts
  const cameFrom = hub.cameFrom()
  await loadView(hub, {
    title: texts.title,
    load: hub.api.listPayments,
    render: ({ data }) => {
      if (data.length === 0)
        return [el('p', { class: 'empty' }, texts.empty), el('p', { class: 'soft' }, texts.emptyHint)]
      hub.announce(texts.count(data.length))
      return [byMonth(hub, data), data.length === LISTED_MAX && el('p', { class: 'soft' }, texts.last)]
    },
  })
  // After returning from a payment, the focus is on its row again.
  if (cameFrom?.name !== 'payment' || routeOf(location.hash).name !== 'payments') return
  document.querySelector<HTMLElement>(`a[href="${hashOf(cameFrom)}"]`)?.focus()
}

function byMonth(hub: Hub, payments: readonly PayerPayment[]): HTMLElement[] {
  const months = new Map<string, PayerPayment[]>()
  for (const payment of payments) {
    const month = hub.format.month(payment.created_at)
    months.set(month, [...(months.get(month) ?? []), payment])
  }
  return [...months].map(([month, ofMonth]) =>
    el('section', {}, el('h2', {}, month), el('ul', { class: 'rows' }, ...ofMonth.map((payment) => row(hub, payment)))),
  )
}

function row(hub: Hub, payment: PayerPayment): HTMLElement {
  const { format, texts } = hub
  return el(
    'li',
    {},
    el(
      'a',
      { class: 'row', href: hashOf({ name: 'payment', id: payment.payment_id }) },
      el('span', { class: 'who' }, payment.merchant_name),
      el('span', { class: 'sum' }, format.money(payment.gross_amount, payment.currency)),
      el('time', { class: 'soft', datetime: payment.created_at }, format.moment(payment.created_at)),
      el(
        'span',
        { class: 'badges' },
        el('span', { class: `badge ${payment.status.toLowerCase()}` }, payerStatusText(texts, payment)),
        payment.dispute !== null && el('span', { class: 'badge dispute' }, texts.dispute.badge[payment.dispute.status]),
      ),
    ),
  )
}
