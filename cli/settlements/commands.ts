import {
  SettlementLine,
  getSettlementSchedule,
  listAdminSettlementLines,
  listSettlementLines,
} from '../../src/wire/settlements.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import type { Client } from '../client/call.ts'
import { command, grouped, argument } from '../kit/command.ts'
import type { Input } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'
import { EXPORT_TARGET, exportPages } from '../kit/export-pages.ts'
import { ALL_MERCHANTS, PAGING, daysOf, listPages, pagesIn, timeRange } from '../kit/paging.ts'
import { reading } from '../kit/reading.ts'
import { OF_MERCHANTS, scopeOf } from '../merchants/whose.ts'
import { SETTLEMENT_ACTIONS } from './actions.ts'
import { findSettlement, settlementPages } from './find.ts'
import { LINE_VIEW, printSchedule, printSettlement, settlementView } from './view.ts'

const list = command({
  command: 'settlements list',
  summary: 'List settlements, last period first',
  examples: ['svc settlements list --since 30d', 'svc settlements list --merchant acme-ltd -o csv'],
  flags: {
    ...grouped('Filters:', {
      ...timeRange('Period ended'),
      currency: { value: 'code', summary: 'Filter by currency' },
      status: { value: 'status', summary: 'Filter by status', choices: ['CLOSED', 'PAID_OUT'] },
    }),
    ...OF_MERCHANTS,
    ...PAGING,
  },
  async run(context, input) {
    const client = context.client()
    const filter = { ...daysOf(input), currency: input.currency?.toUpperCase(), status: input.status }
    const scope = await scopeOf(client, input)
    const isOfAll = scope !== undefined
    const read = settlementPages(client, isOfAll, { ...filter, ...scope })
    await listPages(context, input, read, settlementView(isOfAll))
  },
})

const ofOne = {
  settlement: argument('settlement', 'Its id, or at least its last 8 characters'),
  ...ALL_MERCHANTS,
} as const

const show = command({
  command: 'settlements show',
  summary: 'Show a settlement',
  examples: ['svc settlements show a2b4358c'],
  flags: ofOne,
  run: async (context, input) => printSettlement(context, (await found(context, input)).settlement),
})

const lines = command({
  command: 'settlements lines',
  summary: 'List the lines of a settlement',
  examples: ['svc settlements lines a2b4358c'],
  flags: { ...ofOne, ...PAGING },
  async run(context, input) {
    const { pages } = await found(context, input)
    await listPages(context, input, pages(context.client()), LINE_VIEW)
  },
})

const exporting = command({
  command: 'settlements export',
  summary: 'Export the lines of a settlement as CSV or JSON',
  details: 'Fetches every page.',
  examples: ['svc settlements export a2b4358c > lines.csv', 'svc settlements export a2b4358c -o jsonl | jq .amount'],
  flags: { ...ofOne, ...EXPORT_TARGET },
  async run(context, input) {
    const { pages } = await found(context, input)
    const columns = Object.keys(SettlementLine.shape)
    await exportPages(context, input, { columns, noun: 'line', instead: 'svc settlements lines --all', pages })
  },
})

async function found(context: Context, { settlement: given, allMerchants }: Input<typeof ofOne>) {
  const client = context.client()
  const isOfAll = await meansAllMerchants(client, allMerchants)
  const settlement = await findSettlement(client, given, isOfAll)
  const params = { id: settlement.settlement_id }
  const list = isOfAll ? listAdminSettlementLines : listSettlementLines
  return { settlement, pages: (by: Client) => pagesIn(by, list, { params }) }
}

const showSchedule = reading({
  command: 'settlements schedule show',
  summary: 'Show when periods are settled',
  examples: ['svc settlements schedule show'],
  flags: {},
  operation: getSettlementSchedule,
  view: printSchedule,
})

export const SETTLEMENTS = [
  list,
  show,
  lines,
  exporting,
  { command: 'settlements schedule', summary: 'Show and set when periods are settled' },
  showSchedule,
  ...SETTLEMENT_ACTIONS,
]
