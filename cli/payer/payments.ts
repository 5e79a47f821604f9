import { PayerPayment, getPayerPayment, listPayerPayments } from '../../src/wire/payer.ts'
import type { PayerReceipt } from '../../src/wire/payer.ts'
import { asPayer } from '../client/auth/payer-session.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { resolveId } from '../kit/resolve-id.ts'
import { tableOf } from '../output/table.ts'
import { endOfId, minuteOf, shortTime } from '../base/text.ts'
import { statusStyle } from '../payments/view.ts'

export async function listPayments(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  const { body } = await call(asPayer(context.client(), context.io.env), listPayerPayments, {})
  context.print.list({
    items: body.data,
    fields: Object.keys(PayerPayment.shape),
    columns: [
      { title: 'id', value: (row) => row.payment_id, short: endOfId },
      { title: 'status', value: (row) => row.status, style: statusStyle },
      { title: 'amount', value: (row) => row.gross_amount, align: 'right' },
      { title: 'cur', value: (row) => row.currency },
      { title: 'merchant', value: (row) => row.merchant_name, least: 12 },
      { title: 'made', value: (row) => shortTime(row.created_at), short: minuteOf },
      { title: 'dispute', value: (row) => row.dispute?.status ?? '', least: 12, dropped: 1 },
    ],
    id: (row) => row.payment_id,
    empty: 'No payments are known by this contact.',
  })
  return undefined
}

/** The payment that a text means: a whole id, or its beginning or end. @throws {CliError} when it means none */
export async function payersPaymentId(payer: Client, given: string | undefined): Promise<string> {
  if (given === undefined) throw usageError('which payment? Its id is missing', 'svc payer payments list')
  return resolveId(given, 'payment of the payer', async function* ids() {
    for (const { payment_id: id } of (await call(payer, listPayerPayments, {})).body.data) yield id
  })
}

export async function show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const payer = asPayer(context.client(), context.io.env)
  const { body } = await call(payer, getPayerPayment, { params: { id: await payersPaymentId(payer, args[0]) } })
  printReceipt(context, body)
  return undefined
}

function printReceipt({ print }: Context, receipt: PayerReceipt): void {
  const history = tableOf(receipt.status_history, HISTORY_COLUMNS, {
    header: true,
    paint: (_style, text) => text,
    width: print.width,
  })
  print.record({
    item: receipt,
    id: receipt.payment_id,
    lines: [...linesOf(receipt), ...disputeLines(receipt)],
    after: history.join('\n'),
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
    ['Made', shortTime(receipt.created_at)],
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
