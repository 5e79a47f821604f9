import { RAISE_ACTIONS } from '../../disputes/raise-actions.ts'
import { PAYMENT_ACTIONS } from '../../payments/actions.ts'
import { actionKeys } from '../action-key.ts'
import type { Who } from '../../client/auth/acting-side.ts'
import { leadingKey } from '../screen.ts'
import type { Permission, ScreenKey } from '../screen.ts'
import { ofPayment } from './merchant-text.ts'
import type { PaymentRow } from './payment-lines.ts'

/** Its webhooks, for those who may read them. */
function webhooksFor(kind: Who['kind'], permission: Permission): ScreenKey<PaymentRow> {
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

export const PAYMENT_KEYS: readonly ScreenKey<PaymentRow>[] = [
  ...actionKeys(PAYMENT_ACTIONS, {
    get: (row: PaymentRow) => row,
    set: (row, payment) => ({ ...row, ...payment }),
  }),
  ...actionKeys<PaymentRow, PaymentRow>([RAISE_ACTIONS.platform, RAISE_ACTIONS.merchant], {
    get: (row) => row,
    set: (_row, payment) => payment,
  }),
  webhooksFor('platform', 'read merchants'),
  webhooksFor('merchant', 'manage webhooks'),
]
