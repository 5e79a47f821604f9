import { KybStatus, RECENT_DELIVERIES, AdminMerchant, getMerchant, listMerchants } from '../../src/wire/admin.ts'
import type { ListedMerchant } from '../../src/wire/admin.ts'
import { getFees } from '../../src/wire/fees.ts'
import { getLimits } from '../../src/wire/limits.ts'
import type { OperationInput } from '../../src/wire/operation.ts'
import { Registration, listRegistrations } from '../../src/wire/registration.ts'
import { dayOf, endOfId, shortTime } from '../base/text.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { PageReader } from '../client/pages.ts'
import { command, grouped, argument } from '../kit/command.ts'
import { reading } from '../kit/reading.ts'
import type { Input } from '../kit/command.ts'
import { EXPORT_TARGET, exportPages } from '../kit/export-pages.ts'
import { listPages, PAGING, pagesIn } from '../kit/paging.ts'
import { ACTIVE_ACTIONS, FACTOR_ACTIONS, KYB_ACTIONS, HOLD_ACTIONS } from './actions.ts'
import { printFees } from './fees-view.ts'
import { findMerchant } from './find.ts'
import { REPAIR_ACTIONS, TERMS_ACTIONS } from './setup-actions.ts'
import { merchant as subject } from './subject.ts'
import { printLimits, printMerchants, printMerchant } from './view.ts'

const showLimits = command({
  command: 'merchants limits show',
  summary: "Show a merchant's currencies and largest payment",
  examples: ['svc merchants limits show acme-ltd'],
  flags: { merchant: argument('merchant', subject.summary) },
  async run(context, input) {
    const client = context.client()
    const { merchant } = await findMerchant(client, input.merchant)
    const { body } = await call(client, getLimits, { params: { id: merchant.id } })
    printLimits(context, merchant, body)
  },
})

const showFees = command({
  command: 'merchants fees show',
  summary: "Show a merchant's fees and their changes",
  examples: ['svc merchants fees show acme-ltd', 'svc merchants fees show acme-ltd -q history[0].changed_by'],
  flags: { merchant: argument('merchant', subject.summary) },
  async run(context, input) {
    const client = context.client()
    const { merchant } = await findMerchant(client, input.merchant)
    const { body } = await call(client, getFees, { params: { id: merchant.id } })
    printFees(context, merchant, body)
  },
})

const queue = command({
  command: 'kyb list',
  summary: 'List merchants awaiting KYB review, oldest first',
  examples: ['svc kyb list', 'svc kyb list --status SUSPENDED', 'svc kyb list -o id'],
  flags: {
    status: {
      value: 'status',
      summary: 'List merchants with this status instead',
      choices: KybStatus.options,
      initial: 'PENDING',
    },
    ...PAGING,
  },
  async run(context, input) {
    const empty = input.status === 'PENDING' ? 'No merchant waits for a decision.' : 'There are no such merchants.'
    const read = readerOf(context.client(), { kyb_status: input.status, order: 'oldest' })
    await listPages(context, input, read, (items) => printMerchants(context, { items, empty }))
  },
})

const FILTERS = grouped('Filters:', {
  status: { value: 'status', summary: 'Filter by KYB status', choices: KybStatus.options },
  held: { summary: 'Show only held merchants' },
  disabled: { summary: 'Show only disabled merchants' },
  search: { value: 'text', summary: 'Search in names and realms' },
  order: { value: 'order', summary: 'Sort order (newest)', choices: ['newest', 'oldest'] },
})

type Filter = Omit<NonNullable<OperationInput<typeof listMerchants>['query']>, 'limit' | 'cursor'>

const list = command({
  command: 'merchants list',
  summary: 'List merchants, newest first',
  examples: [
    'svc merchants list',
    'svc merchants list --deliveries',
    'svc merchants list --status PENDING --order oldest',
    'svc merchants list --all -o csv > merchants.csv',
  ],
  flags: {
    ...FILTERS,
    ...PAGING,
    ...grouped('Output:', {
      deliveries: { summary: `Show how many of the newest ${RECENT_DELIVERIES} deliveries of each arrived` },
    }),
  },
  async run(context, input) {
    const { deliveries } = input
    const filter = { ...filterOf(input), ...(deliveries ? { include: 'recent_deliveries' as const } : {}) }
    const empty = 'There are no such merchants.'
    const read = readerOf(context.client(), filter)
    await listPages(context, input, read, (items) => printMerchants(context, { items, deliveries, empty }))
  },
})

function filterOf({ status, held, disabled, search, order }: Input<typeof FILTERS>): Filter {
  return {
    kyb_status: status,
    ...(held ? { payout_held: 'true' } : {}),
    ...(disabled ? { is_active: 'false' } : {}),
    search,
    order,
  }
}

function readerOf(client: Client, filter: Filter): PageReader<ListedMerchant> {
  return pagesIn(client, listMerchants, { query: filter })
}

const show = command({
  command: 'merchants show',
  summary: 'Show a merchant and its latest audit entries',
  examples: ['svc merchants show acme-ltd', 'svc merchants show a2b4358c -q kyb_status'],
  flags: { merchant: argument('merchant', subject.summary) },
  async run(context, input) {
    const { merchant } = await findMerchant(context.client(), input.merchant)
    printMerchant(context, merchant)
  },
})

const registrations = reading({
  command: 'merchants registrations',
  summary: 'List incomplete registrations',
  details: 'Incomplete means half-created, without an administrator, or not invited.',
  examples: ['svc merchants registrations'],
  flags: {},
  operation: listRegistrations,
  view: {
    fields: Registration,
    columns: [
      { title: 'realm', value: (row) => row.slug },
      { title: 'status', value: (row) => row.status },
      { title: 'company', value: (row) => row.company_name, dropped: 1, least: 12 },
      { title: 'administrator', value: (row) => row.admin_email, dropped: 3, least: 16 },
      { title: 'begun', value: (row) => shortTime(row.created_at), short: dayOf, dropped: 2 },
      { title: 'problems', value: (row) => row.problems.join('; '), least: 24 },
    ],
    empty: 'No registration needs a hand.',
  },
})

const exporting = command({
  command: 'merchants export',
  summary: 'Export merchants as CSV or JSON',
  examples: [
    'svc merchants export > merchants.csv',
    'svc merchants export --status APPROVED -o jsonl --file merchants.jsonl',
  ],
  flags: { ...FILTERS, ...grouped('Output:', { ...EXPORT_TARGET }) },
  async run(context, input) {
    const filter = filterOf(input)
    await exportPages(context, input, {
      columns: Object.keys(AdminMerchant.shape),
      noun: 'merchant',
      instead: 'svc merchants list --all',
      pages: (client) => readerOf(client, filter),
    })
  },
})

const listHeld = command({
  command: 'hold list',
  summary: 'List held merchants with reasons',
  examples: ['svc hold list', 'svc hold list -o id'],
  flags: PAGING,
  async run(context, input) {
    const client = context.client()
    await listPages(context, input, readerOf(client, { payout_held: 'true' }), async (items) => {
      const reasons = new Map<string, string>()
      // Programs read the merchants as any list has them; the reasons are in the audit trail and in each merchant.
      if (!context.print.isMachine) for (const { id } of items) reasons.set(id, await reasonOf(client, id))
      context.print.list(items, {
        fields: AdminMerchant,
        columns: [
          { title: 'id', value: (row) => row.id, short: endOfId },
          { title: 'realm', value: (row) => row.realm_slug ?? '', least: 16 },
          { title: 'name', value: (row) => row.trading_name, dropped: 2, least: 12 },
          { title: 'since', value: (row) => shortTime(row.payout_held_at), short: dayOf },
          { title: 'by', value: (row) => row.payout_held_by ?? '', dropped: 1, least: 8 },
          { title: 'reason', value: (row) => reasons.get(row.id) ?? '', least: 16 },
        ],
        empty: 'No merchant is held.',
      })
    })
  },
})

/** Why the payouts are held: what was said last, among the last things that operators did to the merchant. */
async function reasonOf(client: Client, id: string): Promise<string> {
  const { body } = await call(client, getMerchant, { params: { id } })
  const hold = body.actions.find(
    ({ action: name, after }) => name === 'merchant.hold' && after?.['payout_held'] === true,
  )
  return hold?.reason ?? ''
}

const showKyb = command({
  command: 'kyb show',
  summary: 'Show a merchant and its past KYB decisions',
  examples: ['svc kyb show acme-ltd'],
  flags: { merchant: argument('merchant', subject.summary) },
  run: show.run,
})

export const MERCHANTS = [
  { command: 'merchants', examples: ['svc merchants list --search acme', 'svc merchants show acme-ltd'] },
  list,
  exporting,
  show,
  registrations,
  { command: 'merchants fees', summary: "Show and set a merchant's fees" },
  showFees,
  { command: 'merchants limits', summary: "Show and set a merchant's limits" },
  showLimits,
  ...ACTIVE_ACTIONS,
  ...TERMS_ACTIONS,
  ...REPAIR_ACTIONS,
  ...FACTOR_ACTIONS,
]

/** `svc kyb`: the same merchants as a queue of decisions (decision 19). */
export const KYB = [
  { command: 'kyb', examples: ['svc kyb list', 'svc kyb approve acme-ltd --reason "documents checked"'] },
  queue,
  showKyb,
  ...KYB_ACTIONS,
]

/** `svc hold`: payouts and new payments of a merchant, held and released (decision 20). */
export const HOLD = [
  { command: 'hold', examples: ['svc hold set acme-ltd --reason "under investigation"'] },
  ...HOLD_ACTIONS,
  listHeld,
]
