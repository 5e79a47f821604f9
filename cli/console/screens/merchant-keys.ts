import { registerMerchant } from '../../../src/wire/registration.ts'
import { quoted } from '../../base/command-hints.ts'
import { call } from '../../client/call.ts'
import { registeredLines } from '../../merchants/register.ts'
import { ACTIVE_ACTIONS, HOLD_ACTIONS, KYB_ACTIONS } from '../../merchants/actions.ts'
import { FEE_ACTIONS, REPAIR_ACTIONS } from '../../merchants/setup-actions.ts'
import { actionKeys } from '../action-key.ts'
import { leadingKey } from '../screen.ts'
import type { ScreenKey } from '../screen.ts'
import type { MerchantRow } from './merchant-lines.ts'
import { ofMerchant } from './merchant-text.ts'

function nameOf({ merchant, registration }: MerchantRow): string {
  return merchant?.realm_slug ?? registration?.slug ?? merchant?.id ?? ''
}

/** Registers a merchant as `svc register` does, with its secrets to keep. */
const registerKey: ScreenKey<MerchantRow> = {
  key: 'n',
  label: 'register',
  writes: true,
  permission: 'operate merchants',
  on: 'list',
  needs: 'nothing',
  command: (_row, { company_name: company = '...', trading_name: name = '...', admin_email: email = '...' }) =>
    `svc register --company ${quoted(company)} --trading-name ${quoted(name)} --email ${quoted(email)}`,
  ask: () => ({
    what: 'register a merchant',
    about: ['It waits for KYB approval then. Its administrator is invited by mail; its secrets are shown once.'],
    fields: [
      { name: 'company_name', label: 'Legal name; the realm is named after it', kind: 'line' },
      { name: 'trading_name', label: 'Trading name, which payers see', kind: 'line' },
      { name: 'admin_email', label: 'Address of the first administrator', kind: 'line' },
    ],
  }),
  async run(_row, { company_name = '', trading_name = '', admin_email = '' }, { client, show }) {
    const { body } = await call(client, registerMerchant, { body: { company_name, trading_name, admin_email } })
    const lines = registeredLines(body).flatMap(([label, text]) => (text === '' ? [] : [`${label}: ${text}`]))
    show(`Registered ${trading_name}`, [...lines, '', 'Keep the secrets now: they are shown this once.'], {
      isOnce: true,
    })
    return `registered ${trading_name}`
  },
}

export const MERCHANT_KEYS: readonly ScreenKey<MerchantRow>[] = [
  ...actionKeys([...HOLD_ACTIONS, ...FEE_ACTIONS, ...ACTIVE_ACTIONS, ...KYB_ACTIONS], {
    get: ({ merchant }: MerchantRow) => merchant,
    set: (row, merchant) => ({ ...row, merchant }),
  }),
  ...actionKeys(REPAIR_ACTIONS, {
    get: (row: MerchantRow) => (row.registration === null ? null : { slug: nameOf(row) }),
    set: (row) => row,
  }),
  leadingKey<MerchantRow>({
    key: 'P',
    label: 'payments',
    fits: ({ merchant }) => merchant !== null,
    command: (row) => `svc payments list --merchant ${nameOf(row)}`,
    to: ({ id }) => ['payments', { filter: ofMerchant(id) }],
  }),
  leadingKey<MerchantRow>({
    key: 'd',
    label: 'details',
    on: 'list',
    command: (row) => (row.merchant === null ? 'svc merchants registrations' : `svc merchants show ${nameOf(row)}`),
    to: ({ id }) => ['merchants', { open: id }],
  }),
  registerKey,
]
