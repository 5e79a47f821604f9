import { listAdminPayments } from '../../../src/wire/console.ts'
import { isKnownCurrency } from '../../../src/lib/money.ts'
import { PaymentStatus, listPayments } from '../../../src/wire/payments.ts'
import { call } from '../../client/call.ts'
import { findPayment } from '../../payments/find.ts'
import { endOfId, shortTime } from '../../base/text.ts'
import { AGE_WIDTH, ageOf } from '../model/ages.ts'
import { screen } from '../screen.ts'
import type { Page, Reading } from '../screen.ts'
import { OWN, ofMerchant, wordAfter } from './merchant-text.ts'
import { idColumns, whoseColumns } from './payment-columns.ts'
import { paymentDetail } from './payment-detail.ts'
import { PAYMENT_KEYS } from './payment-keys.ts'
import { isRefunded, statusStyle } from '../../payments/view.ts'
import type { PaymentRow, WholePayment } from './payment-lines.ts'

/** Payments as they come, the newest first: a merchant's own, or those of all for operators. */
export const payments = screen<PaymentRow, WholePayment>({
  name: 'payments',
  key: '4',
  title: 'Payments',
  short: 'Paym',
  noun: 'payment',
  reads: ['read merchants', 'read payments'],
  follow: true,
  list: {
    read: readPage,
    isDirty: (hint) => 'event' in hint && hint.event.payment_id !== null,
  },
  serviceFilter,
  id: ({ payment_id }) => payment_id,
  columns: ({ now, who }) => [
    { title: 'id', value: (row) => endOfId(row.payment_id), dropped: 4 },
    { title: 'status', value: (row) => row.status, style: statusStyle, least: 10 },
    { title: 'amount', value: (row) => row.gross_amount, align: 'right' },
    { title: 'cur', value: (row) => row.currency },
    { title: 'refunded', value: (row) => (isRefunded(row) ? row.refunded_amount : ''), align: 'right', dropped: 3 },
    { title: 'age', value: (row) => ageOf(row.created_at, now), align: 'right', floor: AGE_WIDTH },
    ...whoseColumns(who),
    { title: 'failure', value: (row) => row.failure?.code ?? '', style: () => 'red', least: 8 },
    { title: 'bank', value: (row) => row.debtor_bank_id ?? '', onlyWide: true },
    { title: 'fee', value: (row) => row.fee_amount, align: 'right', onlyWide: true },
    { title: 'net', value: (row) => row.net_amount, align: 'right', onlyWide: true },
    { title: 'created', value: (row) => shortTime(row.created_at), onlyWide: true },
    { title: 'end-to-end id', value: (row) => row.end_to_end_id, onlyWide: true },
    ...idColumns(who),
  ],
  empty: 'There are no payments yet.',
  serviceLooksFor: 'a status, a currency, a whole end-to-end id or merchant:<id>',
  detail: { ...paymentDetail, find: findPayment },
  keys: PAYMENT_KEYS,
})

/** Words that only an end-to-end id is like. */
const END_TO_END_ID = /^[A-Z]{3}[0-9a-f]{32}$/

/** The words of a filter that the service understands: a status, a currency, a merchant and an end-to-end id. */
export function serviceFilter(filter: string): string {
  const words = filter.split(/\s+/)
  const status = PaymentStatus.options.find((each) => words.some((word) => word.toLowerCase() === each.toLowerCase()))
  const currency = words.map((word) => word.toUpperCase()).find(isKnownCurrency)
  const merchant = words.find((word) => word.startsWith(ofMerchant('')))
  const endToEndId = words.find((word) => END_TO_END_ID.test(word))
  return [status, currency, merchant, endToEndId].filter((word) => word !== undefined).join(' ')
}

export async function readPage({ client, who, filter, cursor, limit }: Reading): Promise<Page<PaymentRow>> {
  const words = filter.split(' ')
  const status = PaymentStatus.options.find((each) => words.includes(each))
  const currency = words.find(isKnownCurrency)
  const endToEndId = words.find((word) => END_TO_END_ID.test(word))
  const query = {
    limit,
    ...(cursor === undefined ? {} : { cursor }),
    ...(status === undefined ? {} : { status }),
    ...(currency === undefined ? {} : { currency }),
    ...(endToEndId === undefined ? {} : { end_to_end_id: endToEndId }),
  }
  if (who.kind === 'platform') {
    const merchant = wordAfter(filter, ofMerchant(''))
    const one = merchant === undefined ? {} : { merchant_id: merchant }
    const { body } = await call(client, listAdminPayments, { query: { ...query, ...one } })
    return { rows: body.data, next: body.next_cursor }
  }
  const { body } = await call(client, listPayments, { query })
  return { rows: body.data.map((row) => ({ ...row, ...OWN })), next: body.next_cursor }
}
