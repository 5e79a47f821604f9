import { z } from 'zod'
import { getAdminPayment } from '../../src/wire/console.ts'
import { PaymentEvent, listPaymentEvents } from '../../src/wire/payments.ts'
import { RefundRow, listRefunds } from '../../src/wire/refunds.ts'
import { CliError } from '../base/errors.ts'
import { endOfId, minuteOf, shortTime } from '../base/text.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { command, argument } from '../kit/command.ts'
import { reading } from '../kit/reading.ts'
import type { Context } from '../kit/context.ts'
import { following, follow, followTime } from '../kit/follow.ts'
import { ALL_MERCHANTS } from '../kit/paging.ts'
import { STILL_POSSIBLE } from '../kit/wait.ts'
import { whoseText } from '../merchants/whose.ts'
import type { Column } from '../output/table.ts'
import { stylesOf } from '../output/table.ts'
import { ownPayment, paymentId, paymentIdFor } from './find.ts'
import { payment as subject } from './subject.ts'
import { isRefunded, printPayment, statusStyle } from './view.ts'

export const show = command({
  command: 'payments show',
  summary: 'Show a payment and its history',
  examples: [
    'svc payments show a2b4358c',
    'svc payments show a2b4358c -q status',
    'svc payments show a2b4358c --all-merchants',
  ],
  flags: {
    payment: argument('payment', subject.summary),
    ...ALL_MERCHANTS,
  },
  async run(context, input) {
    const client = context.client()
    const { payment: given } = input
    if (await meansAllMerchants(client, input.allMerchants)) {
      const id = await paymentIdFor(client, given, 'platform')
      const { body } = await call(client, getAdminPayment, { params: { id } })
      printPayment(context, body, [['Merchant', whoseText(body)]])
    } else printPayment(context, await ownPayment(client, given))
  },
})

/**
 * `svc payments receipt`: what a payer is given to keep: no fee, and nothing else that is the merchant's own affair.
 * @throws {CliError} PAYMENT_NOT_SETTLED, exit code 7: before the money has come there is no receipt
 */
export const receipt = command({
  command: 'payments receipt',
  summary: 'Print the receipt of a settled payment',
  details: 'The receipt is for the payer. Exit code 7 before the payment is settled.',
  examples: ['svc payments receipt a2b4358c', 'svc payments receipt a2b4358c -q settled_at'],
  flags: { payment: argument('payment', subject.summary) },
  async run(context, input) {
    const payment = await ownPayment(context.client(), input.payment)
    const settled = payment.status_history.find(({ new_status: status }) => status === 'Settled')
    if (settled === undefined)
      throw new CliError('PAYMENT_NOT_SETTLED', `the payment is ${payment.status}: a receipt comes with Settled`, {
        hint: `svc payments show ${payment.payment_id}`,
      })
    const isOwn = 'consent_id' in payment
    const item = {
      payment_id: payment.payment_id,
      status: payment.status,
      end_to_end_id: payment.end_to_end_id,
      gross_amount: payment.gross_amount,
      currency: payment.currency,
      refunded_amount: payment.refunded_amount,
      payer_name: isOwn ? payment.payer_name : null,
      remittance_reference: isOwn ? payment.remittance_reference : null,
      settled_at: settled.created_at,
    }
    context.print.record(item, [
      ['Receipt', item.payment_id],
      ['Paid', `${item.gross_amount} ${item.currency}`],
      ['Settled', shortTime(item.settled_at)],
      ['Refunded', isRefunded(item) ? `${item.refunded_amount} ${item.currency}` : ''],
      ['Payer', item.payer_name ?? ''],
      ['Reference', item.remittance_reference ?? ''],
      ['End-to-end id', item.end_to_end_id],
    ])
  },
})

const refundStyle = stylesOf({ EXECUTED: 'green', FAILED: 'red' }, 'yellow')

export const REFUND_COLUMNS: readonly Column<RefundRow>[] = [
  { title: 'id', value: (row) => row.refund_id, short: endOfId },
  { title: 'status', value: (row) => row.refund_status, style: refundStyle },
  { title: 'amount', value: (row) => row.amount, align: 'right' },
  { title: 'cur', value: (row) => row.currency },
  { title: 'asked', value: (row) => shortTime(row.created_at), short: minuteOf },
  { title: 'bank reference', value: (row) => row.bank_reference ?? '', dropped: 1, least: 14 },
  { title: 'reason', value: (row) => row.reason ?? '', dropped: 2, least: 12 },
  { title: 'failure', value: (row) => row.failure?.code ?? '', least: 16 },
]

export const refunds = reading({
  command: 'payments refunds',
  summary: "List a payment's refunds, oldest first",
  examples: ['svc payments refunds a2b4358c', 'svc payments refunds a2b4358c --all -o csv'],
  flags: { payment: argument('payment', subject.summary) },
  operation: listRefunds,
  request: async ({ payment }, client) => ({ params: { id: await paymentId(client, payment) } }),
  view: { fields: RefundRow, columns: REFUND_COLUMNS, empty: 'Nothing of this payment was refunded.' },
})

type Event = z.infer<typeof PaymentEvent>

const PAUSE_MS = 1_000

/** `svc payments events`: each change of a payment; with `--follow` the next ones too, until none can come. */
export const events = command({
  command: 'payments events',
  summary: "List a payment's audit events with their hashes",
  examples: [
    'svc payments events a2b4358c',
    'svc payments events a2b4358c -o jsonl',
    'svc payments events a2b4358c --follow --timeout 5m',
  ],
  flags: {
    payment: argument('payment', subject.summary),
    ...following('Follow new events until the last one or Ctrl+C'),
  },
  async run(context, input) {
    followTime(input)
    const client = context.client()
    const id = await paymentId(client, input.payment)
    if (!input.follow) {
      printAll(context, await read(client, id))
      return undefined
    }
    let shown = 0
    return follow(context, {
      options: input,
      pauseMs: PAUSE_MS,
      read: () => read(client, id),
      show(all) {
        for (const event of all.slice(shown)) printLine(context, event)
        shown = all.length
        const last = all.at(-1)
        // Nothing more can come of a payment that has failed or was refunded.
        return last !== undefined && STILL_POSSIBLE[last.new_status].length === 0
      },
    })
  },
})

async function read(client: Client, id: string): Promise<Event[]> {
  return (await call(client, listPaymentEvents, { params: { id } })).body.data
}

function printAll({ print }: Context, items: readonly Event[]): void {
  print.list(items, {
    fields: PaymentEvent,
    columns: [
      { title: 'ordinal', value: (row) => row.ordinal, align: 'right' },
      { title: 'time', value: (row) => row.created_at, short: (time) => time.slice(11, 19) },
      { title: 'from', value: (row) => row.previous_status ?? '-' },
      { title: 'to', value: (row) => row.new_status, style: statusStyle },
      { title: 'by', value: (row) => row.changed_by },
      { title: 'event hash', value: (row) => row.event_hash.slice(0, 16), dropped: 1 },
    ],
    id: (row) => row.id,
    empty: 'There are no events.',
  })
}

function printLine({ io, print }: Context, event: Event): void {
  if (print.isMachine) return print.record(event, [], { id: event.id })
  const { paint } = print
  const status = paint(statusStyle(event.new_status), event.new_status)
  const from = event.previous_status === null ? '' : `${event.previous_status} to `
  io.stdout.write(`${paint('dim', event.created_at.slice(11, 23))}  ${from}${status}  by ${event.changed_by}\n`)
}
