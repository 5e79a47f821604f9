import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { DisputeStatus, AdminDisputeSummary, DisputeSummary } from '../../src/wire/dispute-fields.ts'
import { listAdminDisputes, listDisputes } from '../../src/wire/disputes.ts'
import type { Style } from '../base/io.ts'
import { dayOf, endOfId, shortTime } from '../base/text.ts'
import { distanceOf, roughly } from '../base/times.ts'
import { meansAllMerchants, isBoth } from '../client/auth/acting-side.ts'
import { call } from '../client/call.ts'
import type { PageReader } from '../client/pages.ts'
import { addAction, addActions } from '../kit/action-command.ts'
import { action } from '../kit/context.ts'
import type { Runtime, CommandResult, Context, InputOf } from '../kit/context.ts'
import { DataOption, forAllMerchants, subcommand } from '../kit/option-values.ts'
import { paged, withTimeRange, Paging, TimeRange, listPages, rangeOf } from '../kit/paging.ts'
import { scopeOf, whoseColumns } from '../merchants/whose.ts'
import type { Owned } from '../merchants/whose.ts'
import { DISPUTE_ACTIONS } from './actions.ts'
import { disputedId, findAnyDispute, findOwnDispute } from './find.ts'
import { RAISE_ACTIONS } from './raise-actions.ts'
import { dispute } from './subject.ts'
import { SHORT_STATUSES, isResolved, printDispute, shortStatus } from './view.ts'
import type { ListedDispute } from './view.ts'

/** `svc disputes`: what payers and merchants disagree about, and the operators who settle it (decisions 22 to 24). */
export function addDisputes(disputes: Command, runtime: Runtime): void {
  disputes.addHelpText(
    'after',
    '\nExamples:\n  svc disputes list --status OPEN\n  svc disputes show a2b4358c\n  svc disputes evidence a2b4358c --file proof.txt\n',
  )
  addList(disputes, runtime)
  forAllMerchants(disputes.command('show').argument(`<${dispute.noun}>`, dispute.summary))
    .description('Show a dispute, its statements and its timeline')
    .addHelpText('after', '\nExamples:\n  svc disputes show a2b4358c\n  svc disputes show a2b4358c -q status\n')
    .action(action(runtime, ShowOptions, show))
  addRaise(disputes, runtime)
  addActions(disputes, runtime, DISPUTE_ACTIONS)
}

function addList(disputes: Command, runtime: Runtime): void {
  const command = subcommand(disputes, 'list', 'List disputes, newest first')
  command
    .optionsGroup('Filters:')
    .addOption(statusOption())
    .option('--payment <id>', 'Filter by payment')
    .option('--merchant <merchant>', 'Filter by merchant, as an operator: its id, realm or client id')
  withTimeRange(forAllMerchants(command), 'Opened').addOption(
    new Option('--order <order>', 'Sort order (newest)').choices(['newest', 'oldest']),
  )
  paged(command)
    .addHelpText(
      'after',
      '\nExamples:\n  svc disputes list --status UNDER_REVIEW --order oldest\n  svc disputes list --payment a2b4358c\n  svc disputes list --merchant acme-ltd --since 30d -o csv\n',
    )
    .action(action(runtime, ListOptions, list))
}

function statusOption(): Option {
  const short = Object.keys(SHORT_STATUSES).join(' and ')
  return new DataOption('--status <status>', `Filter by status; also ${short}`)
    .choices(DisputeStatus.options)
    .alsoTaking(SHORT_STATUSES)
}

function addRaise(disputes: Command, runtime: Runtime): void {
  const { merchant, platform, payer } = RAISE_ACTIONS
  addAction(disputes, runtime, merchant, {
    async choose(context, { asPayer, asOperator }) {
      if (asPayer === true) return payer
      return (await meansAllMerchants(context.client(), asOperator === true)) ? platform : merchant
    },
  })
    .addOption(new DataOption('--as-payer', 'Act as the payer, in the sandbox').conflicts('asOperator'))
    .option('--as-operator', 'Act for the platform when signed in as both')
}

const ShowOptions = z.object({ allMerchants: z.boolean().default(false) })

const ListOptions = Paging.extend({
  status: DisputeStatus.optional(),
  payment: z.string().optional(),
  merchant: z.string().optional(),
  ...ShowOptions.shape,
  ...TimeRange.shape,
  order: z.enum(['newest', 'oldest']).optional(),
})

async function list(context: Context, { options }: InputOf<typeof ListOptions>): Promise<CommandResult> {
  const client = context.client()
  const { status, order, payment } = options
  const scope = await scopeOf(client, options)
  const payment_id = payment && (await disputedId(client, payment, scope === undefined ? 'merchant' : 'platform'))
  const filter = { status, order, ...rangeOf(options), payment_id }
  const read: PageReader<ListedDispute> = async (page) =>
    scope === undefined
      ? (await call(client, listDisputes, { query: { ...filter, ...page } })).body
      : (await call(client, listAdminDisputes, { query: { ...filter, ...scope, ...page } })).body
  await listPages(context, options, read, (rows) => printDisputes(context, rows, scope !== undefined))
}

/** `svc disputes show`: operators see more of it, so whoever is both looks as one. */
async function show(
  context: Context,
  { args: [given = ''], options }: InputOf<typeof ShowOptions>,
): Promise<CommandResult> {
  const client = context.client()
  if (await meansAllMerchants(client, options.allMerchants || isBoth(client))) {
    printDispute(context, await findAnyDispute(client, given))
    return undefined
  }
  const dispute = await findOwnDispute(client, given)
  printDispute(context, dispute)
  if (dispute.status === 'OPEN' && !context.print.isMachine)
    context.note(`Next: svc disputes evidence ${endOfId(dispute.id)}, or accept`)
}

/** How a status looks: an end in green, one that costs the merchant in red, what is open in yellow. */
function disputeStyle(status: string): Style {
  if (status === 'RESOLVED_MERCHANT_FAVOUR') return 'green'
  if (status === 'RESOLVED_PAYER_FAVOUR') return 'red'
  return status === 'ESCALATED' ? 'magenta' : 'yellow'
}

/** Disputes as a table; operators see whose they are as well. */
function printDisputes({ print }: Context, items: readonly ListedDispute[], isForOperators: boolean): void {
  print.list<ListedDispute>({
    items,
    fields: Object.keys((isForOperators ? AdminDisputeSummary : DisputeSummary).shape),
    columns: [
      { title: 'id', value: (row) => row.id, short: endOfId },
      { title: 'status', value: (row) => row.status, style: disputeStyle, short: shortStatus },
      ...(isForOperators ? whoseColumns(ownerOf) : []),
      { title: 'reason', value: (row) => row.reason, least: 12 },
      { title: 'amount', value: (row) => row.gross_amount, align: 'right' },
      { title: 'cur', value: (row) => row.currency },
      { title: 'payment', value: (row) => row.payment_id, short: endOfId, dropped: 3 },
      { title: 'due', value: dueOf, short: roughly, dropped: 4, least: 12 },
      { title: 'opened by', value: (row) => row.opened_by, dropped: 2 },
      { title: 'opened', value: (row) => shortTime(row.opened_at), short: dayOf, dropped: 1 },
    ],
    id: (row) => row.id,
    empty: 'There are no such disputes.',
  })
}

function ownerOf(row: ListedDispute): Owned | undefined {
  return 'trading_name' in row ? row : undefined
}

/** How long the merchant still has, while anybody waits for it. */
function dueOf(row: ListedDispute): string {
  if (row.status !== 'OPEN') return row.evidence_missing && !isResolved(row) ? 'missed' : ''
  return distanceOf(row.evidence_due_at)
}
