import {
  PayerPayment,
  getPayerPayment,
  listPayerPayments,
  raisePayerDispute,
  sendPayerReceipt,
} from '../../src/wire/payer.ts'
import type { PayerReceipt } from '../../src/wire/payer.ts'
import { endOfId, minuteOf, shortTime } from '../base/text.ts'
import { asPayer } from '../client/auth/payer-session.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { payerFlags, raising } from '../disputes/raise-actions.ts'
import { paymentBy } from '../disputes/subject.ts'
import { action as declaredAction } from '../kit/action.ts'
import { argument } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'
import { reading } from '../kit/reading.ts'
import { resolveId } from '../kit/resolve-id.ts'
import { tableBelow } from '../output/table.ts'
import { statusStyle } from '../payments/view.ts'
import { PAYER_ACTIONS } from './actions.ts'
import { link, logout, verify, whoami } from './sign-in.ts'

const payerOf = ({ client, io }: Context) => asPayer(client(), io.env)

const PAYMENT = 'Payment id, or at least its last 8 characters'

const list = reading({
  command: 'payer payments list',
  summary: "List the payer's last 50 payments",
  examples: ['svc payer payments list', 'svc payer payments list -o csv > payments.csv'],
  flags: {},
  client: payerOf,
  operation: listPayerPayments,
  view: {
    fields: PayerPayment,
    columns: [
      { title: 'id', value: (row) => row.payment_id, short: endOfId },
      { title: 'status', value: (row) => row.status, style: statusStyle },
      { title: 'amount', value: (row) => row.gross_amount, align: 'right' },
      { title: 'cur', value: (row) => row.currency },
      { title: 'merchant', value: (row) => row.merchant_name, least: 12 },
      { title: 'created', value: (row) => shortTime(row.created_at), short: minuteOf },
      { title: 'dispute', value: (row) => row.dispute?.status ?? '', least: 12, dropped: 1 },
    ],
    empty: 'No payments are known by this contact.',
  },
})

async function payersPaymentId(payer: Client, given: string): Promise<string> {
  return resolveId(given, 'payment of the payer', async () =>
    (await call(payer, listPayerPayments, {})).body.data.map(({ payment_id: id }) => id),
  )
}

const show = reading({
  command: 'payer show',
  summary: 'Show the receipt of a payment',
  examples: ['svc payer show a2b4358c', 'svc payer show a2b4358c -q end_to_end_id'],
  flags: { payment: argument('payment', PAYMENT) },
  client: payerOf,
  operation: getPayerPayment,
  request: async ({ payment }, payer) => ({ params: { id: await payersPaymentId(payer, payment) } }),
  view: printReceipt,
})

function printReceipt({ print }: Context, receipt: PayerReceipt): void {
  print.record(receipt, [...linesOf(receipt), ...disputeLines(receipt)], {
    id: receipt.payment_id,
    after: tableBelow(print, receipt.status_history, HISTORY_COLUMNS),
  })
}

function linesOf(receipt: PayerReceipt): [string, string][] {
  const { currency, failure } = receipt
  return [
    ['Payment', receipt.payment_id],
    ['To', receipt.merchant_name],
    ['Status', receipt.status],
    ['Amount', `${receipt.gross_amount} ${currency}`],
    ['Fee', `${receipt.fee_amount} ${currency}, paid by the merchant, who gets ${receipt.net_amount}`],
    ...receipt.refunds.map(({ amount, refunded_at: at }): [string, string] => [
      'Refunded',
      `${amount} ${currency}, ${shortTime(at)}`,
    ]),
    ['Failure', failure === null ? '' : `${failure.code}: ${failure.reason}`],
    ['Reference', receipt.remittance_reference ?? ''],
    ['Bank', receipt.bank_name ?? receipt.debtor_bank_id ?? ''],
    ['End-to-end id', receipt.end_to_end_id],
    ['Mandate', receipt.is_recurring ? receipt.consent_id : ''],
    ['Created', shortTime(receipt.created_at)],
  ]
}

function disputeLines({ dispute }: PayerReceipt): [string, string][] {
  if (dispute === null) return []
  return [
    ['Dispute', `${dispute.status}: ${dispute.reason}, opened ${shortTime(dispute.opened_at)}`],
    ['Decision', dispute.resolution_note ?? ''],
  ]
}

type Step = PayerReceipt['status_history'][number]

const HISTORY_COLUMNS = [
  { title: 'time', value: (step: Step) => shortTime(step.created_at) },
  { title: 'status', value: (step: Step) => step.new_status },
]

const ownPayment = paymentBy(async (client, given) => {
  return (await call(client, getPayerPayment, { params: { id: await payersPaymentId(client, given) } })).body
})

const sendReceipt = declaredAction({
  command: 'payer send-receipt',
  summary: 'Send the receipt of a payment by e-mail',
  details: 'To the e-mail address that the payer has signed in with: once an hour for each payment.',
  examples: ['svc payer send-receipt a2b4358c'],
  subject: ownPayment,
  flags: {},
  operation: sendPayerReceipt,
  effect: ({ payment_id: id }) => `mail the receipt of payment ${endOfId(id)}`,
  done: ({ payment_id: id }) => `sent the receipt of payment ${endOfId(id)}`,
  view({ print }, sent) {
    print.record(sent, [['Receipt', `sent to ${sent.contact}`]], { id: sent.payment_id })
  },
})

const payerDispute = declaredAction({
  ...raising,
  command: 'payer dispute',
  summary: 'Dispute a payment',
  examples: ['svc payer dispute a2b4358c --reason ITEM_NOT_RECEIVED --statement "nothing came"'],
  subject: ownPayment,
  flags: payerFlags,
  operation: raisePayerDispute,
  view(context, raised) {
    context.print.record(raised, [
      ['Dispute', raised.id],
      ['Payment', raised.payment_id],
      ['Status', raised.status],
      ['Reason', raised.reason],
      ['You say', raised.payer_statement ?? ''],
      ['Opened', shortTime(raised.opened_at)],
    ])
    if (!context.print.isMachine) context.note(`Next: svc payer show ${raised.payment_id}`)
  },
})

/** `svc payer`: the payer hub, for those who pay (decisions 25 and 41). */
export const PAYER = [
  {
    command: 'payer',
    examples: [
      'svc payer link ada@example.org',
      'svc payer verify               asks for the link',
      'svc payer payments list',
      'svc payments mandates list --as-payer',
    ],
  },
  link,
  verify,
  whoami,
  logout,
  { command: 'payer payments', summary: "List the payer's payments" },
  list,
  show,
  ...PAYER_ACTIONS,
  { ...sendReceipt, variant: { client: payerOf } },
  { ...payerDispute, variant: { client: payerOf } },
]
