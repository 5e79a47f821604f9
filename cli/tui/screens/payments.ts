import { listAdminPayments } from '../../../src/wire/console.ts'
import { PaymentStatus, listPayments } from '../../../src/wire/payments.ts'
import { call } from '../../client.ts'
import type { Client } from '../../client.ts'
import { rowsOf } from '../../pages.ts'
import { resolveId } from '../../resolve-id.ts'
import { endOfId, shortTime } from '../../text.ts'
import { ageOf } from '../model/ages.ts'
import { screen } from '../screen.ts'
import type { Page, Reading } from '../screen.ts'
import { OWN, ofMerchant } from './merchant-text.ts'
import { idColumns, whoseColumns } from './payment-columns.ts'
import { paymentDetail } from './payment-detail.ts'
import { PAYMENT_KEYS } from './payment-keys.ts'
import { isRefunded, statusStyle } from './payment-lines.ts'
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
    { title: 'age', value: (row) => ageOf(row.created_at, now), align: 'right' },
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
  detail: { ...paymentDetail, find: (client, text) => resolveId(text, 'payment', () => newestIds(client)) },
  keys: PAYMENT_KEYS,
})

/** The words of a filter that the service understands: a status, a currency and a merchant. */
function serviceFilter(filter: string): string {
  const words = filter.split(/\s+/)
  const status = PaymentStatus.options.find((each) => words.some((word) => word.toLowerCase() === each.toLowerCase()))
  const currency = words.find((word) => /^[A-Z]{3}$/.test(word))
  const merchant = words.find((word) => word.startsWith(ofMerchant('')))
  return `${status ?? ''} ${currency ?? ''} ${merchant ?? ''}`.trimEnd()
}

export async function readPage({ client, who, filter, cursor, limit }: Reading): Promise<Page<PaymentRow>> {
  const [word = '', currency = '', merchant = ''] = filter.split(' ')
  const status = PaymentStatus.options.find((each) => each === word)
  const query = {
    limit,
    ...(cursor === undefined ? {} : { cursor }),
    ...(status === undefined ? {} : { status }),
    ...(currency === '' ? {} : { currency }),
  }
  if (who.kind === 'platform') {
    const one = merchant === '' ? {} : { merchant_id: merchant.slice(ofMerchant('').length) }
    const { body } = await call(client, listAdminPayments, { query: { ...query, ...one } })
    return { rows: body.data, next: body.next_cursor }
  }
  const { body } = await call(client, listPayments, { query })
  return { rows: body.data.map((row) => ({ ...row, ...OWN })), next: body.next_cursor }
}

const PAGES_MAX = 10

async function* newestIds(client: Client): AsyncGenerator<string> {
  const ofMerchant = client.credentials.merchant !== undefined
  const pages = ofMerchant
    ? rowsOf(async (page) => (await call(client, listPayments, { query: page })).body, PAGES_MAX)
    : rowsOf(async (page) => (await call(client, listAdminPayments, { query: page })).body, PAGES_MAX)
  for await (const { payment_id: id } of pages) yield id
}
