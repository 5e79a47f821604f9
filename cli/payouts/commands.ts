import { PayoutStatus } from '../../src/wire/payouts.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import { command, grouped, argument } from '../kit/command.ts'
import { ALL_MERCHANTS, PAGING, listPages, rangeOf, timeRange } from '../kit/paging.ts'
import { OF_MERCHANTS, scopeOf } from '../merchants/whose.ts'
import { ACCOUNTS } from './accounts.ts'
import { FILE_REFUND_ACTIONS, PAYOUT_ACTIONS } from './actions.ts'
import { FILES } from './files.ts'
import { findPayout, payout, payoutPages } from './subject.ts'
import { payoutView, printPayout } from './view.ts'

const list = command({
  command: 'payouts list',
  summary: 'List payouts, newest first',
  examples: ['svc payouts list --since 30d', 'svc payouts list --status FAILED --all-merchants'],
  flags: {
    ...grouped('Filters:', {
      ...timeRange('Created'),
      currency: { value: 'code', summary: 'Filter by currency' },
      status: { value: 'status', summary: 'Filter by status', choices: PayoutStatus.options },
    }),
    ...OF_MERCHANTS,
    ...PAGING,
  },
  async run(context, input) {
    const client = context.client()
    const filter = { ...rangeOf(input), currency: input.currency?.toUpperCase(), status: input.status }
    const scope = await scopeOf(client, input)
    const isOfAll = scope !== undefined
    const read = payoutPages(client, isOfAll, { ...filter, ...scope })
    await listPages(context, input, read, payoutView(isOfAll))
  },
})

const show = command({
  command: 'payouts show',
  summary: 'Show a payout',
  examples: ['svc payouts show a2b4358c'],
  flags: { payout: argument('payout', payout.summary), ...ALL_MERCHANTS },
  async run(context, input) {
    const client = context.client()
    const isOfAll = await meansAllMerchants(client, input.allMerchants)
    printPayout(context, await findPayout(client, input.payout, isOfAll))
  },
})

export const PAYOUTS = [list, show, ...PAYOUT_ACTIONS, ...FILE_REFUND_ACTIONS, ...FILES, ...ACCOUNTS]
