import { endOfId, shortTime } from '../../base/text.ts'
import { AGE_WIDTH, UNTIL_WIDTH, ageOf, untilText } from '../model/ages.ts'
import { screen } from '../screen.ts'
import { idColumns, whoseColumns } from './payment-columns.ts'
import { paymentDetail } from './payment-detail.ts'
import type { PaymentRow, WholePayment } from './payment-lines.ts'
import { SANDBOX_KEYS } from './sandbox-keys.ts'
import { dialLines, readQueue } from './sandbox-queue.ts'
import type { Dials } from './sandbox-queue.ts'

/** The mock bank with the payments that wait for their payers there, the clock, and stories to play. */
export const sandbox = screen<PaymentRow, WholePayment, Dials>({
  name: 'sandbox',
  key: '8',
  title: 'Sandbox',
  short: 'Box',
  reads: ['read merchants', 'read payments'],
  sandboxOnly: true,
  limit: 50,
  list: {
    read: readQueue,
    isDirty: (hint) => 'event' in hint && hint.event.payment_id !== null,
  },
  id: ({ payment_id }) => payment_id,
  head: (_rows, { who, width }, dials = { list: [], more: 0 }) =>
    dialLines(dials, { width, isOperator: isOperator(who) }),
  columns: ({ now, who }) => [
    { title: 'id', value: (row) => endOfId(row.payment_id) },
    { title: 'amount', value: (row) => row.gross_amount, align: 'right' },
    { title: 'cur', value: (row) => row.currency },
    { title: 'waits', value: (row) => ageOf(row.created_at, now), align: 'right', floor: AGE_WIDTH },
    { title: 'expires', value: (row) => untilText(row.expires_at, now), floor: UNTIL_WIDTH, dropped: 3 },
    ...whoseColumns(who),
    { title: 'status', value: (row) => row.status, onlyWide: true },
    { title: 'created', value: (row) => shortTime(row.created_at), onlyWide: true },
    ...idColumns(who),
  ],
  empty: 'No payment waits for its payer at the mock bank.',
  detail: paymentDetail,
  keys: SANDBOX_KEYS,
})

function isOperator({ kind, permissions }: { kind: string; permissions: readonly string[] }): boolean {
  return kind === 'platform' && permissions.includes('operate sandbox')
}
