import { ACTIVE_ACTIONS, HOLD_ACTIONS, KYB_ACTIONS } from '../../merchants/actions.ts'
import { FEE_ACTIONS, REPAIR_ACTIONS } from '../../merchants/setup-actions.ts'
import { actionKeys } from '../action-key.ts'
import type { ScreenKey } from '../screen.ts'
import type { MerchantRow } from './merchant-lines.ts'
import { nameOf } from './merchant-names.ts'
import { ofMerchant } from './merchant-text.ts'
import { registerKey } from './register-key.ts'

export const MERCHANT_KEYS: readonly ScreenKey<MerchantRow>[] = [
  ...actionKeys([...HOLD_ACTIONS, ...FEE_ACTIONS, ...ACTIVE_ACTIONS, ...KYB_ACTIONS], {
    get: ({ merchant }: MerchantRow) => merchant,
    set: (row, merchant) => ({ ...row, merchant }),
  }),
  ...actionKeys(REPAIR_ACTIONS, {
    get: (row: MerchantRow) => (row.registration === null ? null : { slug: nameOf(row) }),
    set: (row) => row,
  }),
  {
    key: 'P',
    label: 'payments',
    needs: 'one',
    fits: ({ merchant }) => merchant !== null,
    command: (row) => `svc payments list --merchant ${nameOf(row)}`,
    async run({ id }, _given, { go }) {
      go('payments', { filter: ofMerchant(id) })
      return undefined
    },
  },
  {
    key: 'd',
    label: 'details',
    on: 'list',
    needs: 'one',
    command: (row) => (row.merchant === null ? 'svc merchants registrations' : `svc merchants show ${nameOf(row)}`),
    async run({ id }, _given, { go }) {
      go('merchants', { open: id })
      return undefined
    },
  },
  registerKey,
]
