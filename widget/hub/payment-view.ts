import { hasMovedMoney, isPositive, payerStatusText } from '../../src/lib/payment-status.ts'
import type { PayerReceipt } from '../../src/wire/payer.ts'
import { el } from '../dom.ts'
import { downloadReceipt } from './download-receipt.ts'
import { failureText } from './failure-text.ts'
import type { Hub } from './hub-context.ts'
import { loadView } from './load-view.ts'
import { mailReceipt } from './mail-receipt.ts'
import { alertBox, button, fact } from './parts.ts'
import { hashOf } from './routes.ts'

/** A payment with its receipt, history and dispute. */
export async function showPayment(hub: Hub, id: string, notice?: string): Promise<void> {
  const { payment: texts } = hub.texts
  if (notice !== undefined) hub.announce(notice)
  const back = el('p', { class: 'back' }, el('a', { href: '#payments' }, texts.back))
  await loadView(hub, {
    title: texts.title,
    load: () => hub.api.getPayment(id),
    render: (payment) => {
      const mail = payment.can_mail_receipt ? mailReceipt(hub, payment) : undefined
      return [
        back,
        notice !== undefined && alertBox('good', notice),
        summary(hub, payment),
        disputePart(hub, payment),
        amounts(hub, payment),
        history(hub, payment),
        el(
          'div',
          { class: 'actions' },
          button(texts.print, 'plain', () => window.print()),
          button(texts.download, 'plain', () => downloadReceipt(hub, payment)),
          mail?.send,
        ),
        mail?.outcome,
        el('p', { class: 'on-paper soft' }, `${texts.printedOn} ${hub.format.moment(new Date().toISOString())}`),
      ]
    },
    refused: () => [back, alertBox('bad', texts.notFound)],
  })
}

function summary(hub: Hub, payment: PayerReceipt): HTMLElement {
  const { format, texts } = hub
  const { failure } = payment
  return el(
    'section',
    {},
    el('p', { class: 'who large' }, payment.merchant_name),
    el('p', { class: 'amount' }, format.money(payment.gross_amount, payment.currency)),
    el('p', {}, el('span', { class: `badge ${payment.status.toLowerCase()}` }, payerStatusText(texts, payment))),
    failure !== null && el('p', { class: 'why' }, failureText(texts, failure)),
    el(
      'dl',
      {},
      fact(texts.checkout.date, el('time', { datetime: payment.created_at }, format.moment(payment.created_at))),
      fact(texts.checkout.reference, payment.remittance_reference),
      fact(texts.payment.bank, payment.bank_name ?? payment.debtor_bank_id),
      fact(texts.payment.endToEndId, el('span', { class: 'code' }, payment.end_to_end_id)),
      payment.is_recurring &&
        fact(texts.payment.recurring, el('a', { href: '#permissions' }, texts.payment.recurringLink)),
    ),
  )
}

/** The amounts of a completed payment; for others the amount above is enough. */
function amounts({ format, texts: { checkout, payment: texts } }: Hub, payment: PayerReceipt): HTMLElement | null {
  const money = (amount: string): string => format.money(amount, payment.currency)
  if (!hasMovedMoney(payment)) return null
  return el(
    'section',
    {},
    el('h2', {}, texts.amounts),
    el(
      'dl',
      { class: 'sums' },
      fact(checkout.gross, money(payment.gross_amount)),
      fact(checkout.fee, money(payment.fee_amount)),
      fact(texts.net, money(payment.net_amount)),
      isPositive(payment.refunded_amount) && fact(texts.refunded, money(payment.refunded_amount)),
    ),
  )
}

function history({ format, texts }: Hub, { status_history: changes, refunds, currency }: PayerReceipt): HTMLElement {
  const steps = [
    ...changes.map(({ new_status: status, created_at: at }) => ({ at, text: texts.happened[status] })),
    ...refunds.map(({ amount, refunded_at: at }) => ({
      at,
      text: `${texts.payment.refunded}: ${format.money(amount, currency)}`,
    })),
  ]
  // Sorts in place: two-year-old browsers lack `toSorted`.
  steps.sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0))
  return el(
    'section',
    {},
    el('h2', {}, texts.payment.history),
    el(
      'ol',
      { class: 'steps' },
      ...steps.map(({ at, text }) =>
        el('li', {}, text, ' ', el('time', { class: 'soft', datetime: at }, format.moment(at))),
      ),
    ),
  )
}

function disputePart({ format, texts: { dispute: texts } }: Hub, payment: PayerReceipt): HTMLElement | null {
  const { dispute } = payment
  const shown =
    dispute !== null &&
    el(
      'dl',
      {},
      fact(texts.reason, texts.reasons[dispute.reason]),
      fact(texts.opened, el('time', { datetime: dispute.opened_at }, format.moment(dispute.opened_at))),
      fact(texts.note, dispute.resolution_note),
    )
  const link =
    payment.is_disputable &&
    el(
      'div',
      { class: 'actions' },
      el('a', { class: 'button plain', href: hashOf({ name: 'dispute', id: payment.payment_id }) }, texts.button),
    )
  if (dispute === null && !payment.is_disputable) return null
  return el(
    'section',
    { class: dispute === null ? 'dispute not-on-paper' : 'dispute' },
    el('h2', {}, dispute === null ? texts.open : texts.heading),
    dispute !== null && el('p', {}, texts.status[dispute.status]),
    shown,
    link,
  )
}
