import { erasePayer } from '../../src/wire/erasure.ts'
import { action } from '../kit/action.ts'
import { reason } from '../kit/read-values.ts'

const nameOf = ({ email, phone }: { email?: string | undefined; phone?: string | undefined }) => email ?? phone ?? ''

const erase = action({
  command: 'payer erase',
  summary: "Erase a payer's personal data",
  details: 'Of all merchants. Payments stay, without contact and name; open payments and mandates stay as they are.',
  examples: ['svc payer erase --email ada@example.org --reason "asked by mail on 2026-11-24" --dry-run'],
  subject: undefined,
  flags: {
    email: { value: 'address', summary: 'E-mail address of the payer', excludes: ['phone'] },
    phone: { value: 'number', summary: 'Phone number of the payer' },
    reason,
  },
  operation: erasePayer,
  request: (_id, { email, phone = '', reason: because }) => ({
    body: email === undefined ? { phone, reason: because } : { email, reason: because },
  }),
  effect: (_thing, values) => `erase the personal data of ${nameOf(values)}, for good`,
  done: (_thing, { consents }) => `erased the personal data of ${consents} consents`,
  confirm: true,
  view({ print }, erased) {
    print.record(erased, [
      ['Erasure', erased.erasure_id],
      ['Consents', String(erased.consents)],
      ['Account numbers', String(erased.accounts)],
      ['Messages', String(erased.messages)],
      ['Still open', String(erased.open_consents)],
    ])
  },
})

export const PAYER_ACTIONS = [erase] as const
