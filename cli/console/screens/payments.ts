import { listAdminPayments, getAdminPayment } from '../../../src/wire/console.ts'
import { isKnownCurrency } from '../../../src/lib/money.ts'
import { PaymentStatus, listPayments, getPayment } from '../../../src/wire/payments.ts'
import type { Who } from '../../client/auth/acting-side.ts'
import { call } from '../../client/call.ts'
import { RAISE_ACTIONS } from '../../disputes/raise-actions.ts'
import { PAYMENT_ACTIONS } from '../../payments/actions.ts'
import { findPayment } from '../../payments/find.ts'
import { isRefunded, statusStyle, printPayment } from '../../payments/view.ts'
import { endOfId, shortTime } from '../../base/text.ts'
import { actionKeys } from '../action-key.ts'
import { AGE_WIDTH, ageOf } from '../../base/ages.ts'
import { forOperators, leadingKey, pageOf, screen } from '../screen.ts'
import type { Page, Permission, Reading, ScreenColumn, ScreenKey, Detail } from '../screen.ts'
import { OWN, ofMerchant, ofPayment, oneOf, ownerText, readFilter, wordAfter, ownerWhole } from './merchant-text.ts'
import type { AdminPayment, AdminPaymentSummary } from '../../../src/wire/console.ts'
import { listRefunds } from '../../../src/wire/refunds.ts'
import type { RefundRow } from '../../../src/wire/refunds.ts'
import { listOutbox, listWebhooks } from '../../../src/wire/webhooks.ts'
import type { Delivery } from '../../../src/wire/webhooks.ts'
import { REFUND_COLUMNS } from '../../payments/read.ts'
import { deliveryColumns } from '../../webhooks/view.ts'
import { heading, keyText, line } from '../lines.ts'
import { tableLines } from '../record-lines.ts'

/** A payment of the list; a merchant's own names no merchant. */
export type PaymentRow = Omit<AdminPaymentSummary, 'merchant_id' | 'trading_name'> & {
  merchant_id: string | null
  trading_name: string | null
}

export type WholePayment = {
  payment: PaymentRow & Pick<AdminPayment, 'status_history'>
  deliveries: readonly Delivery[]
  refunds: readonly RefundRow[]
}

/** One payment with its timeline, wherever it is opened from. */
export const paymentDetail: Detail<PaymentRow, WholePayment> = {
  title: (row) => `${row.gross_amount} ${row.currency} ${row.status}`,
  read: readWhole,
  isDirty: (hint, id) => 'event' in hint && hint.event.payment_id === id,
  row: ({ payment }) => payment,
  print: (context, { row, whole }) => printPayment(context, whole?.payment ?? row, [['Merchant', ownerWhole(row)]]),
  below: ({ refunds, deliveries }, { width, keys }) => [
    ...(refunds.length === 0 ? [] : [...heading('Refunds'), ...tableLines(refunds, REFUND_COLUMNS, width)]),
    ...heading(`Webhooks${keyText(keys, 'o', 'opens them')}`),
    ...(deliveries.length === 0
      ? [line('None were sent, or you may not see them.', 'dim')]
      : tableLines(deliveries.toReversed(), deliveryColumns(), width)),
  ],
}

async function readWhole({ client, who, arg: id }: Reading): Promise<WholePayment> {
  if (who.kind === 'platform') {
    const [{ body: payment }, { body: sent }] = await Promise.all([
      call(client, getAdminPayment, { params: { id } }),
      call(client, listOutbox, { query: { payment_id: id, limit: 50 } }),
    ])
    return { payment, deliveries: sent.data, refunds: payment.refunds }
  }
  const [{ body: payment }, refunds, deliveries] = await Promise.all([
    call(client, getPayment, { params: { id } }),
    call(client, listRefunds, { params: { id }, query: { limit: 50 } }),
    who.permissions.includes('manage webhooks')
      ? call(client, listWebhooks, { query: { payment_id: id } }).then(({ body }) => body.data)
      : [],
  ])
  // Only a payer's capability gets a payer's view, and this is a merchant.
  if (!('consent_id' in payment)) throw new Error('the service answered with what a payer may see')
  return { payment: { ...payment, ...OWN }, deliveries, refunds: refunds.body.data }
}

type Columns = readonly ScreenColumn<PaymentRow>[]

export function whoseColumns(who: Who): Columns {
  return [
    ...forOperators<PaymentRow>(who, [{ title: 'merchant', value: ownerText, least: 8 }]),
    { title: 'payer', value: (row) => row.payer_name ?? '', least: 8, dropped: 2 },
    { title: 'reference', value: (row) => row.remittance_reference ?? '', least: 8, dropped: 1 },
  ]
}

/** What commands and the filter take, last and only where there is room for it. */
export function idColumns(who: Who): Columns {
  return [
    { title: 'payment', value: (row) => row.payment_id, onlyWide: true },
    ...forOperators<PaymentRow>(who, [
      { title: 'realm', value: (row) => row.realm_slug ?? '', onlyWide: true },
      { title: 'filter by', value: (row) => ofMerchant(row.merchant_id ?? ''), onlyWide: true },
    ]),
  ]
}

function webhooksKey(kind: 'merchant' | 'platform', permission: Permission): ScreenKey<PaymentRow> {
  return leadingKey<PaymentRow>({
    key: 'o',
    label: 'webhooks',
    for: kind,
    permission,
    command: ({ payment_id: id }) =>
      `svc webhooks list --payment ${id}${kind === 'platform' ? ' --all-merchants' : ''}`,
    to: ({ payment_id: id }) => ['webhooks', { filter: ofPayment(id) }],
  })
}

export const payments = screen<PaymentRow, WholePayment>({
  name: 'payments',
  key: '4',
  title: 'Payments',
  short: 'Pay',
  noun: 'payment',
  reads: ['read merchants', 'read payments'],
  follow: true,
  list: {
    read: readPage,
    isDirty: (hint) => 'event' in hint && hint.event.payment_id !== null,
  },
  serviceFilter: (filter) => readFilter(filter, WORDS).asked,
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
  keys: [
    ...actionKeys(PAYMENT_ACTIONS, {
      get: (row: PaymentRow) => row,
      set: (row, payment) => ({ ...row, ...payment }),
    }),
    ...actionKeys<PaymentRow, PaymentRow>([RAISE_ACTIONS.platform, RAISE_ACTIONS.merchant], {
      get: (row) => row,
      set: (_row, payment) => payment,
    }),
    webhooksKey('platform', 'read merchants'),
    webhooksKey('merchant', 'manage webhooks'),
  ],
})

const WORDS = {
  status: oneOf(PaymentStatus.options),
  currency: (word: string) => (isKnownCurrency(word.toUpperCase()) ? word.toUpperCase() : undefined),
  merchant_id: (word: string) => wordAfter(word, ofMerchant('')),
  end_to_end_id: (word: string) => (/^[A-Z]{3}[0-9a-f]{32}$/.test(word) ? word : undefined),
}

export async function readPage({ client, who, filter, page }: Reading): Promise<Page<PaymentRow>> {
  const { merchant_id: merchant, ...wanted } = readFilter(filter, WORDS).query
  const query = { ...page, ...wanted }
  if (who.kind === 'platform') {
    const one = merchant === undefined ? {} : { merchant_id: merchant }
    return pageOf((await call(client, listAdminPayments, { query: { ...query, ...one } })).body)
  }
  const { body } = await call(client, listPayments, { query })
  return { rows: body.data.map((row) => ({ ...row, ...OWN })), next: body.next_cursor }
}
