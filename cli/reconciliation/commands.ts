import { z } from 'zod'
import { getPortalReconciliation, getReconciliation, listReconciliations } from '../../src/wire/reconciliation.ts'
import type { KeptReconciliation, ReconciledTotal, Reconciliation } from '../../src/wire/reconciliation.ts'
import { EXIT } from '../base/exit-codes.ts'
import { shortTime } from '../base/text.ts'
import { parseTime } from '../base/times.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { command } from '../kit/command.ts'
import type { CommandResult, Context } from '../kit/context.ts'
import { ALL_MERCHANTS } from '../kit/paging.ts'
import { scopeOf } from '../merchants/whose.ts'
import { tableBelow } from '../output/table.ts'
import { DIFFERENCE_COLUMNS } from './view.ts'

/** A million payments take the service about a minute. */
const TIMEOUT_MS = 180_000

const Options = z.object({
  since: z.string().optional(),
  asOf: z.string().optional(),
  merchant: z.string().optional(),
  allMerchants: z.boolean().default(false),
  failOnDiff: z.boolean().default(false),
  last: z.boolean().default(false),
})
type Options = z.infer<typeof Options>

export const reconcile = command({
  command: 'reconcile',
  summary: 'Compare payments, ledger, bank and statements',
  details: 'Without --since the kept balances are recounted as well.',
  examples: [
    'svc reconcile',
    'svc reconcile --since 24h --fail-on-diff',
    'svc reconcile --merchant acme-ltd --as-of 2026-11-01',
    'svc reconcile --last',
  ],
  flags: {
    ...ALL_MERCHANTS,
    since: { value: 'time', summary: 'Compare only what moved at this time or later: 24h, 2026-11-21' },
    asOf: { value: 'time', summary: 'Compare only what moved until this time' },
    merchant: { value: 'merchant', summary: 'Compare one merchant, as an operator: its id, realm or client id' },
    failOnDiff: { summary: 'End with exit code 3 where there is a difference' },
    last: {
      summary: 'Show the last run of the daily job instead, as an operator',
      excludes: ['since', 'asOf', 'merchant'],
    },
  },
  async run(context, input) {
    if (input.last) return showLast(context, input)
    const client = context.client()
    const found = await read({ ...client, timeoutMs: Math.max(client.timeoutMs, TIMEOUT_MS) }, input)
    const from = found.from === null ? 'everything' : `from ${shortTime(found.from)}`
    printFound(context, found, {
      id: String(found.is_balanced),
      lines: [['Compared', `${from} until ${shortTime(found.as_of)}`]],
    })
    if (found.has_more) context.note('There are more differences: narrow it with --merchant or --since')
    return found.differences.length > 0 && input.failOnDiff ? EXIT.assertion : undefined
  },
})

/**
 * The newest run of the daily job that has ended. A failed one counts as a difference: what it would have found is
 * unknown.
 */
async function showLast(context: Context, { failOnDiff }: Options): Promise<CommandResult> {
  const { data } = (await call(context.client(), listReconciliations, { query: { limit: 10 } })).body
  const last = data.find(({ status }) => status !== 'RUNNING')
  if (last === undefined) {
    context.note('The daily job has not run yet: svc worker runs it, and svc reconcile compares now')
    return failOnDiff ? EXIT.assertion : undefined
  }
  printFound(context, last, {
    id: last.id,
    lines: [
      ['Run', `${shortTime(last.started_at)}, everything until ${shortTime(last.as_of)}`],
      ['Status', last.status],
      ...(last.failure === null ? [] : [['Failure', last.failure] satisfies Line]),
      ['Next run', shortTime(last.next_run_at)],
    ],
  })
  return last.status !== 'BALANCED' && failOnDiff ? EXIT.assertion : undefined
}

type Line = [name: string, text: string]

function printFound(
  { print }: Context,
  found: Reconciliation | KeptReconciliation,
  { id, lines }: { id: string; lines: Line[] },
): void {
  const { differences, totals } = found
  const count = found.difference_counts.reduce((sum, each) => sum + each.count, 0)
  print.record(
    found,
    [
      ...lines,
      ['Differences', count === 0 ? 'none' : String(count)],
      ...totals.map((total): Line => [`${total.trading_name} ${total.currency}`, totalText(total)]),
    ],
    { id, after: tableBelow(print, differences, DIFFERENCE_COLUMNS) },
  )
}

async function read(client: Client, { since, asOf, ...whose }: Options): Promise<Reconciliation> {
  const query = { from: since && parseTime(since, '--since'), as_of: asOf && parseTime(asOf, '--as-of') }
  const scope = await scopeOf(client, whose)
  if (scope === undefined) return (await call(client, getPortalReconciliation, { query })).body
  return (await call(client, getReconciliation, { query: { ...query, ...scope } })).body
}

/** Totals by the payments; where the ledger has another one, that too. */
function totalText(total: ReconciledTotal): string {
  const part = (name: string, amount: string, ledger: string): string =>
    `${name} ${amount}${amount === ledger ? '' : ` (ledger ${ledger})`}`
  return [
    part('settled', total.settled_amount, total.ledger_settled_amount),
    part('fees', total.fee_amount, total.ledger_fee_amount),
    part('refunded', total.refunded_amount, total.ledger_refunded_amount),
  ].join(', ')
}
