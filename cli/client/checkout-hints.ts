import type { ErrorCode } from '../../src/lib/errors.ts'
import { isForPayers, membersOf, paramOf, textOr } from './error-context.ts'
import type { Hint, Told } from './error-context.ts'

const NEW_TOKEN = 'a new one: svc widget token --amount 50.00 --currency GBP'
/** Where nobody has said who pays: the address of the examples. */
export const PAYER_LINK = 'with your own address: svc payer link ada@example.org'

/** What to type after a refusal about checkout tokens and mandates, and of what payers ask. */
export const CHECKOUT_HINTS: readonly [ErrorCode, Hint][] = [
  ['CHECKOUT_TOKEN_INVALID', () => 'svc widget token --decode - < token.txt'],
  ['CHECKOUT_TOKEN_EXPIRED', () => NEW_TOKEN],
  [
    'CHECKOUT_ORIGIN_NOT_ALLOWED',
    () => 'which pages may show it: svc origins list\nto allow one more: svc origins add https://shop.example',
  ],
  ['CHECKOUT_ALREADY_PAID', () => 'svc payments list'],
  ['CHECKOUT_ATTEMPTS_USED', () => NEW_TOKEN],
  ['LINK_INVALID', () => PAYER_LINK],
  ['CONSENT_NOT_FOUND', ({ operation }) => (isForPayers(operation) ? 'svc payer consents list' : 'svc mandates list')],
  [
    'CONSENT_NOT_REVOCABLE',
    (told) =>
      isForPayers(told.operation)
        ? 'svc payer consents list'
        : `how it stands: svc mandates show ${paramOf(told, 'id')}`,
  ],
  ['MANDATE_NOT_USABLE', mandateOf],
  ['MANDATE_LIMIT_EXCEEDED', mandateOf],
]

/** What is left of it is told there. */
function mandateOf({ input }: Told): string {
  return `svc mandates show ${textOr(membersOf(input.body)['consent_id'], '<mandate>')}`
}
