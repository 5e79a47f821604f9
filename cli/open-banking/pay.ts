import { createHash } from 'node:crypto'
import { createOrder, getOrder } from '../../src/wire/orders.ts'
import type { PaymentResponse } from '../../src/wire/orders.ts'
import { usageError, withFacts } from '../base/errors.ts'
import { endOfId, shortTime } from '../base/text.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { action } from '../kit/action.ts'
import type { Flags } from '../kit/action.ts'
import { argument } from '../kit/command.ts'
import { reading } from '../kit/reading.ts'
import type { Context } from '../kit/context.ts'
import { findAccount, numberIn } from './named-account.ts'
import { accountText, amountText, printRecord } from './print.ts'
import { accountOf, amountOf, moneyFlags, remittanceOf } from './values.ts'
import { awaitEnd, reasonText } from './wait.ts'

const GOOD = ['AcceptedSettlementCompleted', 'AcceptedCreditSettlementCompleted', 'AcceptedWithoutPosting']

export const payeeFlags = {
  to: {
    value: 'account',
    summary: "Payee's sort code and account number, or IBAN",
    required: true,
    member: 'CreditorAccount',
  },
  name: { value: 'name', summary: 'Name of the payee', member: 'CreditorAccount.Name' },
  reference: {
    value: 'text',
    summary: "Reference on the payee's statement, at most 35 characters",
    member: 'RemittanceInformation',
  },
  from: {
    value: 'account',
    summary: 'Account that pays: its number or id (the first of the currency)',
    member: 'DebtorAccount',
    find: numberOf,
  },
} as const satisfies Flags

const pay = action({
  command: 'ob pay',
  summary: 'Order a payment',
  examples: [
    'svc ob pay --amount 10.00 --currency GBP --to 20000055779911 --name Acme',
    'svc ob pay --amount 10 --currency GBP --to "20-00-00 55779911" --wait',
    'svc ob pay --amount 9.50 --currency EUR --to DE89370400440532013000 --from a2b4358c',
  ],
  subject: undefined,
  flags: {
    ...moneyFlags('InstructedAmount'),
    ...payeeFlags,
    endToEndId: {
      value: 'id',
      summary: 'End-to-end id, at most 35 characters (a new one)',
      member: 'EndToEndIdentification',
    },
  },
  operation: createOrder,
  request: (_id, { to, name, reference, from, endToEndId, ...money }, _thing, key = '') => ({
    body: {
      InstructionIdentification: idFrom(key),
      EndToEndIdentification: endToEndId ?? idFrom(key),
      InstructedAmount: amountOf(money),
      CreditorAccount: accountOf(to, name),
      ...remittanceOf(reference),
      ...(from === undefined ? {} : { DebtorAccount: accountOf(from) }),
    },
  }),
  effect: (_thing, { to, ...money }) => `pay ${amountText(amountOf(money))} to ${to}`,
  done: (_thing, { PaymentId }) => `ordered the payment ${endOfId(PaymentId)}`,
  view(context, order) {
    printOrder(context, order)
    const isOver = GOOD.includes(order.Status) || order.Status === 'Rejected'
    if (!isOver && !context.print.isMachine) context.note(`Next: svc ob payment ${order.PaymentId}`)
  },
  wait: {
    summary: 'Wait until the payment is completed; exit code 3 if it is rejected',
    show: 'svc ob payment',
    async until({ context, client, reply, timeoutMs }) {
      const { PaymentId } = reply
      // With it a program can continue from where the command stopped.
      const facts = { payment_id: PaymentId }
      try {
        const { item, problem } = await awaitEnd(context, {
          item: reply,
          look: async () => (await call(client, getOrder, { params: { PaymentId } })).body,
          noun: 'payment',
          good: GOOD,
          bad: ['Rejected'],
          timeoutMs,
          signal: client.signal,
          hint: `svc ob payment ${PaymentId}`,
        })
        return problem === undefined ? { reply: item } : { reply: item, problem: withFacts(problem, facts) }
      } catch (error) {
        throw withFacts(error, facts)
      }
    },
  },
})

export const PAY_ACTIONS = [pay] as const

/** The number of the account that pays; only an id has to be looked up. */
async function numberOf(client: Client, from: string): Promise<string> {
  if (numberIn(from) !== undefined) return from
  const [named] = (await findAccount(client, from)).Account
  if (named === undefined) throw usageError(`--from: the account ${from} has no number to pay from`)
  return named.Identification
}

/** 35 characters that follow from the key: a repeat with the same key is then the same request. */
function idFrom(key: string): string {
  return `SVC${createHash('sha256').update(key).digest('hex').slice(0, 32)}`
}

export const payment = reading({
  command: 'ob payment',
  summary: 'Show an ordered payment and its status',
  examples: [
    'svc ob payment 01a1fd03-f879-7eb7-872f-a2b4358c4f6d',
    'svc ob payment 01a1fd03-f879-7eb7-872f-a2b4358c4f6d -q Status',
  ],
  flags: { id: argument('id', 'Full payment id, from svc ob pay') },
  operation: getOrder,
  request: ({ id: PaymentId }) => ({ params: { PaymentId } }),
  view: printOrder,
})

function printOrder(context: Context, order: PaymentResponse): void {
  printRecord(context, order, [
    ['Payment', order.PaymentId],
    ['Status', order.Status],
    ['Reason', reasonText(order)],
    ['Amount', amountText(order.InstructedAmount)],
    ['To', accountText(order.CreditorAccount)],
    ['From account', order.DebtorAccountId],
    ['Reference', order.RemittanceInformation?.Reference ?? ''],
    ['End-to-end id', order.EndToEndIdentification],
    ['Recurring', order.RecurringPaymentId ?? ''],
    ['Request', order.RequestId ?? ''],
    ['Ordered', shortTime(order.CreationDateTime)],
    ['Changed', shortTime(order.StatusUpdateDateTime)],
  ])
}
