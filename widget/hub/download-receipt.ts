import { hasMovedMoney, isPositive, payerStatusText } from '../../src/lib/payment-status.ts'
import type { PayerReceipt } from '../../src/wire/payer.ts'
import { el } from '../dom.ts'
import type { Hub } from './hub-context.ts'

const KEPT_MS = 10_000

/** Saves a receipt as a text file, created in the browser: no request, and no address that stays valid. */
export function downloadReceipt(hub: Hub, payment: PayerReceipt): void {
  const url = URL.createObjectURL(new Blob([receiptText(hub, payment)], { type: 'text/plain;charset=utf-8' }))
  const link = el('a', { href: url, download: `receipt-${payment.end_to_end_id}.txt` })
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), KEPT_MS)
}

/** The receipt with one line per fact. */
function receiptText(hub: Pick<Hub, 'texts' | 'format'>, payment: PayerReceipt): string {
  const { checkout, payment: texts } = hub.texts
  const money = (amount: string): string => hub.format.money(amount, payment.currency)
  const paid = hasMovedMoney(payment)
  const lines: (readonly [string, string | null])[] = [
    [checkout.payTo, payment.merchant_name],
    [checkout.date, hub.format.moment(payment.created_at)],
    [texts.status, payerStatusText(hub.texts, payment)],
    [paid ? checkout.gross : checkout.amount, money(payment.gross_amount)],
    [checkout.fee, paid ? money(payment.fee_amount) : null],
    [texts.net, paid ? money(payment.net_amount) : null],
    [texts.refunded, isPositive(payment.refunded_amount) ? money(payment.refunded_amount) : null],
    [checkout.reference, payment.remittance_reference],
    [texts.bank, payment.bank_name],
    [texts.endToEndId, payment.end_to_end_id],
  ]
  const written = lines.flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}`]))
  return [texts.receipt, ...written, ''].join('\r\n')
}
