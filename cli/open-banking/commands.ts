import { accounts, balances, transactions } from './accounts.ts'
import { PAY_ACTIONS, payment } from './pay.ts'
import { FREQUENCIES, RECURRING_ACTIONS } from './recurring-actions.ts'
import { list, show } from './recurring.ts'
import { OFFER_ACTIONS, REQUEST_ACTIONS } from './request-actions.ts'
import { OFFERS, REQUESTS, requestReads } from './requests.ts'

export const OB = [
  {
    command: 'ob',
    details:
      'Amounts are decimals such as 10.00; an account is a sort code with its number (20-00-00 55779911), or an IBAN.',
    examples: [
      'svc ob accounts',
      'svc ob pay --amount 10.00 --currency GBP --to 20000055779911 --wait',
      'svc ob transactions --since 30d',
      'svc ob recurring list',
      'svc ob --customer grace balances',
    ],
    flags: {
      customer: { value: 'id', summary: 'Customer without an identity provider (SVC_CUSTOMER_ID; demo customer)' },
    },
  },
  accounts,
  balances,
  transactions,
  ...PAY_ACTIONS,
  payment,
  {
    command: 'ob recurring',
    summary: 'Manage recurring payments',
    details: FREQUENCIES,
    examples: ['svc ob recurring list'],
  },
  list,
  show,
  ...RECURRING_ACTIONS,
  ...requestReads(REQUESTS),
  ...REQUEST_ACTIONS,
  ...requestReads(OFFERS),
  ...OFFER_ACTIONS,
]
