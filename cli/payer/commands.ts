import type { Command } from 'commander'
import { z } from 'zod'
import { PayerPayment, getPayerPayment, listPayerPayments, raisePayerDispute } from '../../src/wire/payer.ts'
import type { PayerReceipt } from '../../src/wire/payer.ts'
import { usageError } from '../base/errors.ts'
import { endOfId, minuteOf, shortTime } from '../base/text.ts'
import { asPayer } from '../client/auth/payer-session.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { payerFlags, raising } from '../disputes/raise-actions.ts'
import { disputed } from '../disputes/subject.ts'
import { addAction } from '../kit/action-command.ts'
import { action as declared } from '../kit/action.ts'
import { ChangeOptions, changing } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { resolveId } from '../kit/resolve-id.ts'
import { tableOf } from '../output/table.ts'
import { statusStyle } from '../payments/view.ts'
import { VerifyOptions, link, logout, verify, whoami } from './sign-in.ts'
import { subcommand } from '../kit/option-values.ts'

/** `svc payer`: the payer hub, for those who pay (decisions 25 and 41). */
export function addPayer(payer: Command, runtime: Runtime): void {
  payer.addHelpText('after', HELP)
  addSignIn(payer, runtime)
  const payments = payer.command('payments').helpCommand(false).description("List the payer's payments")
  subcommand(payments, 'list', "List the payer's last 50 payments")
    .addHelpText('after', '\nExamples:\n  svc payer payments list\n  svc payer payments list -o csv > payments.csv\n')
    .action(action(runtime, z.object({}), listPayments))
  subcommand(payer, 'show', 'Show the receipt of a payment')
    .argument('<payment>', PAYMENT)
    .addHelpText('after', '\nExamples:\n  svc payer show a2b4358c\n  svc payer show a2b4358c -q end_to_end_id\n')
    .action(action(runtime, z.object({}), show))
  addAction(payer, runtime, payerDispute, { client: ({ client, io }) => asPayer(client(), io.env) })
}

function addSignIn(payer: Command, runtime: Runtime): void {
  changing(subcommand(payer, 'link', 'Send a sign-in link to a payer'))
    .argument('<contact>', 'E-mail address, or phone number with country code')
    .addHelpText(
      'after',
      '\nThe response is the same for unknown contacts.\n\nExamples:\n  svc payer link ada@example.org\n  svc payer link +447700900123\n',
    )
    .action(action(runtime, ChangeOptions, link))
  subcommand(payer, 'verify', 'Sign in with a link or its token')
    .argument('[link]', 'Link or token; - reads it from standard input')
    .option('--from-mail <contact>', 'In the sandbox: the newest link mailed to this contact')
    .option('--wait <duration>', 'With --from-mail: maximum time to wait for the mail', '10s')
    .addHelpText(
      'after',
      '\nThe session lasts 15 minutes. With -, the link stays out of the history of the shell.\n\nExamples:\n  svc payer verify\n  svc payer verify - < link.txt\n  svc payer verify --from-mail ada@example.org\n',
    )
    .action(action(runtime, VerifyOptions, verify))
  subcommand(payer, 'whoami', 'Show which payer is signed in')
    .addHelpText('after', '\nExit code 4 if no payer is signed in.\n\nExamples:\n  svc payer whoami\n')
    .action(action(runtime, z.object({}), whoami))
  subcommand(payer, 'logout', 'Sign out as a payer')
    .addHelpText('after', '\nExamples:\n  svc payer logout\n')
    .action(action(runtime, z.object({}), logout))
}

const PAYMENT = 'Payment id, or at least its last 8 characters'

const HELP = `
Examples:
  svc payer link ada@example.org
  svc payer verify               asks for the link
  svc payer payments list
  svc payments mandates list --as-payer
`

async function listPayments(context: Context): Promise<CommandResult> {
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
}

/** The payment that a text means: a whole id, or its beginning or end. @throws {CliError} when it means none */
async function payersPaymentId(payer: Client, given: string | undefined): Promise<string> {
  if (given === undefined) throw usageError('which payment? Its id is missing', 'svc payer payments list')
  return resolveId(given, 'payment of the payer', async function* ids() {
    for (const { payment_id: id } of (await call(payer, listPayerPayments, {})).body.data) yield id
  })
}

export async function show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const payer = asPayer(context.client(), context.io.env)
  const { body } = await call(payer, getPayerPayment, { params: { id: await payersPaymentId(payer, args[0]) } })
  printReceipt(context, body)
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

/** `svc payer dispute`: the payer says that something is wrong with a payment. */
const payerDispute = declared({
  ...raising,
  command: 'payer dispute',
  summary: 'Dispute a payment',
  examples: ['svc payer dispute a2b4358c --reason ITEM_NOT_RECEIVED --statement "nothing came"'],
  subject: disputed(async (client, given) => {
    return (await call(client, getPayerPayment, { params: { id: await payersPaymentId(client, given) } })).body
  }),
  flags: payerFlags,
  operation: raisePayerDispute,
  request: (id, { reason, statement }) => ({
    params: { id },
    body: { reason, ...(statement === undefined ? {} : { payer_statement: statement }) },
  }),
  view(context, raised) {
    context.print.record({
      item: raised,
      id: raised.id,
      lines: [
        ['Dispute', raised.id],
        ['Payment', raised.payment_id],
        ['Status', raised.status],
        ['Reason', raised.reason],
        ['You say', raised.payer_statement ?? ''],
        ['Opened', shortTime(raised.opened_at)],
      ],
    })
    if (!context.print.isMachine) context.note(`Next: svc payer show ${raised.payment_id}`)
  },
})
