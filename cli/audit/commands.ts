import { OperatorAction, getAuditEntry, listAudit } from '../../src/wire/audit.ts'
import type { OperationInput } from '../../src/wire/operation.ts'
import { usageError } from '../base/errors.ts'
import { nearestWord } from '../base/nearest-word.ts'
import { actorText } from '../base/role-text.ts'
import { printable, shortTime } from '../base/text.ts'
import type { Client } from '../client/call.ts'
import { collectPages } from '../client/pages.ts'
import { command, grouped, argument } from '../kit/command.ts'
import type { CommandResult, Context } from '../kit/context.ts'
import { follow, followTime, following } from '../kit/follow.ts'
import type { FollowOptions } from '../kit/follow.ts'
import { listPages, PAGING, timeRange, rangeOf, pagesIn } from '../kit/paging.ts'
import { reading } from '../kit/reading.ts'
import { rowsIn } from '../kit/resolve-id.ts'
import { merchantId } from '../merchants/find.ts'
import { KNOWN_ACTIONS } from './actions.ts'
import { exporting } from './export.ts'
import { verify } from './verify.ts'
import { AUDIT_COLUMNS, printOperatorAction, changedText, subjectText } from './view.ts'

const show = reading({
  command: 'audit show',
  summary: 'Show an operator action and what it changed',
  examples: ['svc audit show 412', 'svc audit show 412 -q after'],
  flags: {
    ordinal: argument('ordinal', 'Its number, from svc audit list'),
  },
  operation: getAuditEntry,
  request: ({ ordinal }) => ({ params: { ordinal } }),
  view: printOperatorAction,
})

const list = command({
  command: 'audit list',
  summary: 'List operator actions, newest first',
  details: `Actions:\n  ${KNOWN_ACTIONS.join(', ')}`,
  examples: [
    'svc audit list',
    'svc audit list --follow --limit 10',
    'svc audit list --merchant acme-ltd --action merchant.hold --since 7d',
    'svc audit list --all -o jsonl',
  ],
  flags: {
    ...grouped('Filters:', {
      merchant: { value: 'merchant', summary: 'Filter by merchant: its id, realm or client id' },
      action: { value: 'name', summary: 'Filter by action, such as merchant.kyb' },
      actor: { value: 'name', summary: 'Filter by operator' },
      ...timeRange('Done'),
    }),
    ...PAGING,
    ...following('Follow new actions, newest last'),
  },
  async run(context, input) {
    followTime(input)
    const { merchant, action: name, actor, follow, all, cursor, until } = input
    if (follow && (all || cursor !== undefined || until !== undefined))
      throw usageError('--follow begins with the newest: --all, --cursor and --until are for lists without it')
    const client = context.client()
    const filter = { merchant_id: await merchantId(client, merchant), action: name, actor, ...rangeOf(input) }
    if (follow) return followAudit(context, { query: filter, limit: input.limit, options: input })
    await listPages(context, input, pagesIn(client, listAudit, { query: filter }), (items) => {
      if (items.length === 0 && name !== undefined) checkAction(name)
      context.print.list(items, { fields: OperatorAction, columns: AUDIT_COLUMNS, empty: 'There are no such actions.' })
    })
  },
})

/** A name that this version does not know may be one of a newer service, so an empty list proves nothing. */
function checkAction(name: string): void {
  if (KNOWN_ACTIONS.some((known) => known === name)) return
  const near = nearestWord(name, KNOWN_ACTIONS)
  throw usageError(
    `--action: no action is called "${name}"; there are ${KNOWN_ACTIONS.join(', ')}`,
    near === undefined ? 'svc audit list' : `svc audit list --action ${near}`,
  )
}

const POLL_MS = 2_000

type Query = NonNullable<OperationInput<typeof listAudit>['query']>

async function followAudit(
  context: Context,
  { query, limit, options }: { query: Query; limit: string; options: FollowOptions },
): Promise<CommandResult> {
  const client = context.client()
  let last: string | undefined
  return follow(context, {
    options,
    pauseMs: POLL_MS,
    async read() {
      if (last !== undefined) return newerThan(client, last, query)
      return (await collectPages({ limit, all: false }, pagesIn(client, listAudit, { query }))).items
    },
    show(rows) {
      printNews(context, rows)
      last = rows[0]?.ordinal ?? last ?? '0'
      return false
    },
  })
}

/** A thousand at most: more between two looks are not what a person follows, and `svc audit list` has them. */
async function newerThan(client: Client, ordinal: string, query: Query): Promise<OperatorAction[]> {
  const found: OperatorAction[] = []
  for await (const row of rowsIn(client, listAudit, query)) {
    if (BigInt(row.ordinal) <= BigInt(ordinal)) break
    found.push(row)
  }
  return found
}

function printNews({ io, print }: Context, newestFirst: readonly OperatorAction[]): void {
  for (const row of newestFirst.toReversed()) {
    if (print.isMachine) print.record(row, [], { id: row.ordinal })
    else io.stdout.write(`${lineOf(row, print.paint)}\n`)
  }
}

function lineOf(row: OperatorAction, paint: Context['paint']): string {
  const { ordinal, action: name, reason, created_at: at } = row
  const parts = [name, subjectText(row), changedText(row), actorText(row), reason ?? ''].filter((text) => text !== '')
  return `${paint('dim', `${ordinal.padStart(5)}  ${shortTime(at)}`)}  ${printable(parts.join('  '))}`
}

export const AUDIT = [
  { command: 'audit', examples: ['svc audit list --merchant acme-ltd', 'svc audit verify'] },
  list,
  show,
  exporting,
  verify,
]
