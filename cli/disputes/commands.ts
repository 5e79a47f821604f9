import { DisputeStatus, AdminDisputeSummary, DisputeSummary } from '../../src/wire/dispute-fields.ts'
import { listAdminDisputes, listDisputes } from '../../src/wire/disputes.ts'
import { dayOf, endOfId, shortTime } from '../base/text.ts'
import { distanceOf, roughly } from '../base/times.ts'
import { meansAllMerchants, isBoth } from '../client/auth/acting-side.ts'
import { command, grouped, argument } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'
import { ALL_MERCHANTS, PAGING, timeRange, listPages, rangeOf, pagesIn } from '../kit/paging.ts'
import { scopeOf, whoseColumns } from '../merchants/whose.ts'
import type { Owned } from '../merchants/whose.ts'
import { DISPUTE_ACTIONS } from './actions.ts'
import { disputedId, findAnyDispute, findOwnDispute } from './find.ts'
import { RAISE_ACTIONS } from './raise-actions.ts'
import { dispute as subject } from './subject.ts'
import { SHORT_STATUSES, isResolved, printDispute, shortStatus, disputeStyle } from './view.ts'
import type { ListedDispute } from './view.ts'

const list = command({
  command: 'disputes list',
  summary: 'List disputes, newest first',
  examples: [
    'svc disputes list --status UNDER_REVIEW --order oldest',
    'svc disputes list --payment a2b4358c',
    'svc disputes list --merchant acme-ltd --since 30d -o csv',
  ],
  flags: {
    ...grouped('Filters:', {
      status: {
        value: 'status',
        summary: `Filter by status; also ${Object.keys(SHORT_STATUSES).join(' and ')}`,
        choices: DisputeStatus.options,
        synonyms: SHORT_STATUSES,
      },
      payment: { value: 'id', summary: 'Filter by payment' },
      merchant: { value: 'merchant', summary: 'Filter by merchant, as an operator: its id, realm or client id' },
      ...ALL_MERCHANTS,
      ...timeRange('Opened'),
      order: { value: 'order', summary: 'Sort order (newest)', choices: ['newest', 'oldest'] },
    }),
    ...PAGING,
  },
  async run(context, input) {
    const client = context.client()
    const { status, order, payment } = input
    const scope = await scopeOf(client, input)
    const payment_id = payment && (await disputedId(client, payment, scope === undefined ? 'merchant' : 'platform'))
    const filter = { status, order, ...rangeOf(input), payment_id }
    const operation = scope === undefined ? listDisputes : listAdminDisputes
    const read = pagesIn(client, operation, { query: { ...filter, ...scope } })
    await listPages(context, input, read, (rows) => printDisputes(context, rows, scope !== undefined))
  },
})

/** Operators see more of it, so a caller who is both reads it as an operator. */
const show = command({
  command: 'disputes show',
  summary: 'Show a dispute, its statements and its timeline',
  examples: ['svc disputes show a2b4358c', 'svc disputes show a2b4358c -q status'],
  flags: {
    dispute: argument('dispute', subject.summary),
    ...ALL_MERCHANTS,
  },
  async run(context, input) {
    const client = context.client()
    if (await meansAllMerchants(client, input.allMerchants || isBoth(client))) {
      printDispute(context, await findAnyDispute(client, input.dispute))
      return undefined
    }
    const dispute = await findOwnDispute(client, input.dispute)
    printDispute(context, dispute)
    if (dispute.status === 'OPEN' && !context.print.isMachine)
      context.note(`Next: svc disputes evidence ${endOfId(dispute.id)}, or accept`)
  },
})

function printDisputes({ print }: Context, items: readonly ListedDispute[], isForOperators: boolean): void {
  print.list<ListedDispute>(items, {
    fields: isForOperators ? AdminDisputeSummary : DisputeSummary,
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
    empty: 'There are no such disputes.',
  })
}

function ownerOf(row: ListedDispute): Owned | undefined {
  return 'trading_name' in row ? row : undefined
}

/** How long the merchant still has, while its answer is awaited. */
function dueOf(row: ListedDispute): string {
  if (row.status !== 'OPEN') return row.evidence_missing && !isResolved(row) ? 'missed' : ''
  return distanceOf(row.evidence_due_at)
}

const { merchant, platform, payer } = RAISE_ACTIONS
const raise = {
  ...merchant,
  variant: {
    flags: {
      asPayer: { summary: 'Open it as the payer, in the sandbox', excludes: ['asOperator'] },
      asOperator: { summary: 'Open it as the operator when signed in as both' },
    },
    async choose(context: Context, { asPayer, asOperator }: Readonly<Record<string, unknown>>) {
      if (asPayer === true) return payer
      return (await meansAllMerchants(context.client(), asOperator === true)) ? platform : merchant
    },
  },
}

/** `svc disputes`: what payers and merchants disagree about, and the operators who settle it (decisions 22 to 24). */
export const DISPUTES = [
  {
    command: 'disputes',
    examples: [
      'svc disputes list --status OPEN',
      'svc disputes show a2b4358c',
      'svc disputes evidence a2b4358c --file proof.txt',
    ],
  },
  list,
  show,
  raise,
  ...DISPUTE_ACTIONS,
]
