import { cancelRecurring, createRecurring, getRecurring } from '../../src/wire/recurring.ts'
import { EVENING, MORNING, firstMoment, momentOf } from '../base/moments.ts'
import { endOfId } from '../base/text.ts'
import type { Client } from '../client/call.ts'
import { call } from '../client/call.ts'
import { action, idSubject } from '../kit/action.ts'
import { payeeFlags } from './pay.ts'
import { amountText } from './print.ts'
import { idOf, printRecurring, recurringId } from './recurring.ts'
import { accountOf, amountOf, moneyFlags, remittanceOf } from './values.ts'

export const FREQUENCIES = `A frequency has one of four forms:
  EvryDay                every day
  EvryWorkgDay           every day but weekends and bank holidays
  IntrvlWkDay:02:03      every 2 weeks (01 to 09) on Wednesday (01 is Monday)
  IntrvlMnthDay:01:-01   every month (01 to 06, 12, 24) on its last day (-01 to
                         -05), or on a day of 01 to 31`

const TIMES = `A day alone, or 14d from today, is 09:00 in London, and as --final the whole day; 2026-12-01T08:30 is London's time as
well. A moment may also be now, or +10m or +2h from now: then a repeat with the same --idempotency-key is rejected.`

const create = action({
  command: 'ob recurring create',
  summary: 'Order a recurring payment',
  details: `${FREQUENCIES}\n\n${TIMES}`,
  examples: [
    'svc ob recurring create --frequency IntrvlMnthDay:01:01 --first 2027-01-01 --amount 850.00 --currency GBP --to 20000055779911 --reference rent',
    'svc ob recurring create --frequency EvryDay --first now --final 2026-12-24 --amount 1 --currency GBP --to 20000055779911',
  ],
  subject: undefined,
  flags: {
    frequency: {
      value: 'frequency',
      summary: 'Frequency, in one of the forms below',
      required: true,
      member: 'Frequency',
    },
    first: {
      value: 'time',
      summary: 'Time of the first payment',
      required: true,
      member: 'FirstPaymentDateTime',
      find: (_client: Client, text: string) => firstMoment(text, '--first'),
    },
    next: {
      value: 'time',
      summary: 'Day of the second payment, if the frequency leaves it open',
      member: 'NextPaymentDateTime',
      find: (_client: Client, text: string) => momentOf(text, '--next', MORNING),
    },
    final: {
      value: 'time',
      summary: 'Last possible day of a payment',
      member: 'FinalPaymentDateTime',
      find: (_client: Client, text: string) => momentOf(text, '--final', EVENING),
    },
    ...moneyFlags('InstructedAmount'),
    ...payeeFlags,
  },
  operation: createRecurring,
  request: (_id, { frequency, first, next, final, to, name, reference, from, ...money }) => ({
    body: {
      Frequency: frequency,
      FirstPaymentDateTime: first,
      ...(next === undefined ? {} : { NextPaymentDateTime: next }),
      ...(final === undefined ? {} : { FinalPaymentDateTime: final }),
      InstructedAmount: amountOf(money),
      CreditorAccount: accountOf(to, name),
      ...remittanceOf(reference),
      ...(from === undefined ? {} : { DebtorAccount: accountOf(from) }),
    },
  }),
  effect: (_thing, { to, first, ...money }) =>
    `pay ${amountText(amountOf(money))} to ${to} again and again from ${first}`,
  done: (_thing, made) => `ordered the recurring payment ${endOfId(idOf(made))}`,
  view: printRecurring,
})

const recurring = idSubject(
  { noun: 'recurring', summary: 'Its id, or its last 8 characters', called: 'recurring payment' },
  recurringId,
)

const cancel = action({
  command: 'ob recurring cancel',
  summary: 'Cancel a recurring payment',
  details: 'No further payment follows.',
  examples: ['svc ob recurring cancel a2b4358c'],
  subject: recurring,
  flags: {},
  operation: cancelRecurring,
  effect: ({ id }) => `cancel the recurring payment ${id}`,
  done: ({ id }) => `cancelled the recurring payment ${endOfId(id)}`,
  confirm: true,
  // Shows what is left, which the service does not answer by itself.
  async view(context, _reply, { id: RecurringPaymentId }) {
    printRecurring(context, (await call(context.client(), getRecurring, { params: { RecurringPaymentId } })).body)
  },
})

export const RECURRING_ACTIONS = [create, cancel] as const
