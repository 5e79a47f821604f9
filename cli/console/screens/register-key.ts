import { registerMerchant } from '../../../src/wire/registration.ts'
import { quoted } from '../../base/command-hints.ts'
import { call } from '../../client/call.ts'
import { registeredLines } from '../../merchants/register.ts'
import type { ScreenKey } from '../screen.ts'
import type { MerchantRow } from './merchant-lines.ts'

/** Registers a merchant as `svc register` does, with its secrets to keep. */
export const registerKey: ScreenKey<MerchantRow> = {
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
