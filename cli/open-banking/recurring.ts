import type { Command } from 'commander'
import { z } from 'zod'
import { frequencyText, parseFrequency } from '../../src/lib/frequency.ts'
import { RecurringPaymentResponse, getRecurring, listRecurring } from '../../src/wire/recurring.ts'
import { dayOf, endOfId } from '../base/text.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { resolveId } from '../kit/resolve-id.ts'
import type { Column } from '../output/table.ts'
import { ObPaging, collect, emptyText, idsOf, obPaged, tellMore } from './pages.ts'
import type { ObReader } from './pages.ts'
import { accountText, moneyText, printList, printRecord, statusStyle } from './print.ts'
import { subcommand } from '../kit/option-values.ts'

/** Adds the lists of `svc ob recurring`. */
export function addRecurringReads(recurring: Command, runtime: Runtime): void {
  obPaged(subcommand(recurring, 'list', 'List recurring payments, newest first'))
    .addHelpText('after', '\nExamples:\n  svc ob recurring list\n  svc ob recurring list --all -o csv\n')
    .action(action(runtime, ObPaging, list))
  subcommand(recurring, 'show', 'Show a recurring payment and its next due date')
    .argument('<recurring>', 'Its id, or its last 8 characters')
    .addHelpText(
      'after',
      '\nExamples:\n  svc ob recurring show a2b4358c\n  svc ob recurring show a2b4358c -q NextRunDateTime\n',
    )
    .action(action(runtime, z.object({}), show))
}

export function idOf({ RecurringPaymentId }: RecurringPaymentResponse): string {
  return RecurringPaymentId
}

const COLUMNS: Column<RecurringPaymentResponse>[] = [
  { title: 'id', value: idOf, short: endOfId },
  // What it says of shorter months is told where there is room for it.
  { title: 'when', value: (row) => whenText(row.Frequency), short: withoutRemark, least: 16 },
  { title: 'amount', value: (row) => row.InstructedAmount.Amount, align: 'right' },
  { title: 'cur', value: (row) => row.InstructedAmount.Currency, dropped: 1 },
  { title: 'to', value: (row) => accountText(row.CreditorAccount), below: true },
  { title: 'next', value: (row) => inLondon(row.NextRunDateTime), short: dayOf },
  { title: 'status', value: (row) => row.Status, short: withoutStage, style: statusStyle },
]

// The form of Sweden is that of ISO 8601: 2026-12-01 09:00.
const LONDON = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/London', dateStyle: 'short', timeStyle: 'short' })

/** The time at which people there see a payment, which stays the same when clocks change. */
function inLondon(moment: string | undefined): string {
  return moment === undefined ? '' : `${LONDON.format(new Date(moment))} London`
}

function withoutRemark(text: string): string {
  return text.replace(/ \([^()]*\)$/, '')
}

/** Every stage but cancellation is one of the set-up, which a narrow table need not say. */
function withoutStage(status: string): string {
  return status.replace(/^Initiation/, '')
}

/** The frequency in words; one of a newer service as it is. */
function whenText(text: string): string {
  const frequency = parseFrequency(text)
  return 'refused' in frequency ? text : frequencyText(frequency)
}

export function printRecurring(context: Context, recurring: RecurringPaymentResponse): void {
  const { LastPayment: last } = recurring
  printRecord(context, {
    item: recurring,
    id: idOf(recurring),
    lines: [
      ['Recurring', idOf(recurring)],
      ['Status', recurring.Status],
      ['When', `${whenText(recurring.Frequency)} (${recurring.Frequency})`],
      ['Amount', moneyText(recurring.InstructedAmount)],
      ['To', accountText(recurring.CreditorAccount)],
      ['From account', recurring.DebtorAccountId],
      ['Reference', recurring.RemittanceInformation?.Reference ?? ''],
      ['First', inLondon(recurring.FirstPaymentDateTime)],
      ['Second', inLondon(recurring.NextPaymentDateTime)],
      ['Final', inLondon(recurring.FinalPaymentDateTime)],
      ['Next', inLondon(recurring.NextRunDateTime)],
      ['Payments so far', String(recurring.NumberOfPayments)],
      [
        'Last payment',
        last === undefined ? '' : `${last.PaymentId} ${last.Status} ${last.StatusReasonCode ?? ''}`.trim(),
      ],
    ],
  })
}

function reader(client: Client): ObReader<RecurringPaymentResponse> {
  return async (query) => (await call(client, listRecurring, { query })).body
}

async function list(context: Context, { options }: CommandInput<ObPaging>): Promise<CommandResult> {
  const { items, ...page } = await collect(options, idOf, reader(context.client()))
  printList(context, {
    items,
    schema: RecurringPaymentResponse,
    columns: COLUMNS,
    id: idOf,
    empty: emptyText('There are no recurring payments.', page),
  })
  tellMore(context, page)
}

/** A recurring payment, by its id or a part of it. */
export function recurringId(client: Client, given: string): Promise<string> {
  return resolveId(given, 'recurring payment', () => idsOf(reader(client), idOf))
}

async function show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const client = context.client()
  const params = { RecurringPaymentId: await recurringId(client, args[0] ?? '') }
  printRecurring(context, (await call(client, getRecurring, { params })).body)
}
