import { cancelPayment } from '../../../src/wire/payments.ts'
import { refundPayment } from '../../../src/wire/refunds.ts'
import { quoted } from '../../base/command-hints.ts'
import { call } from '../../client/call.ts'
import { endOfId } from '../../base/text.ts'
import type { Given } from '../model/modal.ts'
import type { Who } from '../../client/auth/who-is.ts'
import type { Permission, ScreenKey } from '../screen.ts'
import { listed, ofPayment } from './merchant-text.ts'
import { amountLess, sumText } from './money-text.ts'
import { disputing } from './payment-dispute-key.ts'
import type { PaymentRow } from './payment-lines.ts'

function named(rows: readonly PaymentRow[]): string {
  const [row] = rows
  return rows.length === 1 && row !== undefined
    ? `payment ${endOfId(row.payment_id)} of ${row.gross_amount} ${row.currency}`
    : `${rows.length} payments`
}

/** Which they are, where their number alone stands above, and what they are together. */
export function manyOf(rows: readonly PaymentRow[]): string[] {
  if (rows.length === 1) return []
  const lines = listed(rows, (row) => `${endOfId(row.payment_id)}  ${row.gross_amount} ${row.currency}  ${row.status}`)
  return [`Together ${sumText(rows.map((row) => [row.gross_amount, row.currency]))}:`, ...lines]
}

/** What can still be refunded of it. */
function leftOf({ gross_amount: gross, refunded_amount: refunded, currency }: PaymentRow): string {
  return amountLess(gross, refunded, currency)
}

const refund: ScreenKey<PaymentRow> = {
  key: 'r',
  label: 'refund',
  writes: true,
  permission: 'refund payments',
  for: 'merchant',
  fits: ({ status, gross_amount, refunded_amount }) => status === 'Settled' && gross_amount !== refunded_amount,
  facts: (row) => `${row.status}, ${leftOf(row)} ${row.currency} left`,
  command: ({ payment_id }, { amount, reason }) =>
    [
      `svc payments refund ${payment_id}`,
      ...(amount === undefined ? [] : [`--amount ${quoted(amount)}`]),
      ...(reason === undefined ? [] : [`--reason ${quoted(reason)}`]),
    ].join(' '),
  ask: (rows) => {
    const [row] = rows
    const [only] = rows.length === 1 ? rows : []
    return {
      what: `refund ${named(rows)}`,
      about: [
        only === undefined
          ? 'All that is left of each goes back to its payer.'
          : `${leftOf(only)} ${only.currency} are left of it; they go back to the payer.`,
        ...manyOf(rows),
      ],
      fields: [
        ...(only === undefined
          ? []
          : [{ name: 'amount', label: 'Amount', kind: 'line' as const, initial: leftOf(only) }]),
        { name: 'reason', label: 'Reason', kind: 'line', optional: true, long: true },
      ],
      danger: [endOfId(row?.payment_id ?? ''), row?.payment_id ?? ''],
      ...(only === undefined
        ? {}
        : { act: ({ amount }: Given) => `refund ${amount ?? leftOf(only)} ${only.currency}` }),
      last: ({ amount }) =>
        only === undefined
          ? `refunds ${sumText(rows.map((each) => [leftOf(each), each.currency]))} of ${rows.length} payments to their payers`
          : `refunds ${amount ?? leftOf(only)} ${only.currency} to ${only.payer_name ?? 'the payer'} (payment ${endOfId(only.payment_id)})`,
    }
  },
  async run(row, { amount, reason }, { client, idempotencyKey }) {
    const { payment_id: id } = row
    const body = {
      ...(amount === undefined ? {} : { amount }),
      ...(reason === undefined ? {} : { reason }),
      // What somebody else has refunded meanwhile was not agreed to.
      refund_amount_available: leftOf(row),
    }
    const headers = { 'x-idempotency-key': idempotencyKey }
    const { body: done } = await call(client, refundPayment, { params: { id }, headers, body })
    return `refund of ${endOfId(id)} is ${done.refund_status}`
  },
}

const cancel: ScreenKey<PaymentRow> = {
  key: 'c',
  label: 'cancel',
  writes: true,
  permission: 'create payments',
  for: 'merchant',
  fits: ({ status }) => status === 'Initiated' || status === 'AwaitingAuthorisation',
  facts: ({ status }) => status,
  command: ({ payment_id }) => `svc payments cancel ${payment_id}`,
  ask: (rows) => ({
    what: `cancel ${named(rows)}`,
    about: manyOf(rows),
    last: () => `cancels ${named(rows)}: ${rows.length === 1 ? 'it' : 'they'} can be authorised no more`,
  }),
  async run({ payment_id: id }, _given, { client }) {
    await call(client, cancelPayment, { params: { id } })
    return `cancelled ${endOfId(id)}`
  },
}

/** Its webhooks, for those who may read them. */
function webhooksFor(kind: Who['kind'], permission: Permission): ScreenKey<PaymentRow> {
  return {
    key: 'o',
    label: 'webhooks',
    for: kind,
    permission,
    needs: 'one',
    command: ({ payment_id: id }) => `svc ${kind === 'platform' ? 'outbox' : 'webhooks'} list --payment ${id}`,
    async run({ payment_id: id }, _given, { go }) {
      go('webhooks', { filter: ofPayment(id) })
      return undefined
    },
  }
}

export const PAYMENT_KEYS: readonly ScreenKey<PaymentRow>[] = [
  refund,
  cancel,
  disputing('platform'),
  disputing('merchant'),
  webhooksFor('platform', 'read merchants'),
  webhooksFor('merchant', 'manage webhooks'),
]
