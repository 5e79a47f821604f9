import type { Command } from 'commander'
import { z } from 'zod'
import { OperatorAction, getAuditEntry, listAudit } from '../../src/wire/audit.ts'
import type { OperationInput } from '../../src/wire/operation.ts'
import { usageError } from '../base/errors.ts'
import { nearestWord } from '../base/nearest-word.ts'
import { actorText } from '../base/role-text.ts'
import { printable, shortTime } from '../base/text.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { collectPages, PAGE_SIZE_MAX, rowsOf } from '../client/pages.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { FollowOptions, followTime, followable, follow } from '../kit/follow.ts'
import { TimeRange, rangeOf, withTimeRange, Paging, paged } from '../kit/paging.ts'
import { merchantId } from '../merchants/find.ts'
import { KNOWN_ACTIONS } from './actions.ts'
import { addExport } from './export.ts'
import { addVerify } from './verify.ts'
import { AUDIT_COLUMNS, printOperatorAction, changedText, subjectText } from './view.ts'

const ListOptions = Paging.extend({
  merchant: z.string().optional(),
  action: z.string().optional(),
  actor: z.string().optional(),
  ...TimeRange.shape,
  ...FollowOptions.shape,
})

export function addAudit(audit: Command, runtime: Runtime): void {
  audit.addHelpText('after', '\nExamples:\n  svc audit list --merchant acme-ltd\n  svc audit verify\n')
  const command = audit
    .command('list')
    .description('List operator actions, newest first')
    .optionsGroup('Filters:')
    .option('--merchant <merchant>', 'Filter by merchant: its id, realm or client id')
    .option('--action <name>', 'Filter by action, such as merchant.kyb')
    .option('--actor <name>', 'Filter by operator')
  followable(paged(withTimeRange(command, 'Done')), 'Follow new actions, newest last')
    .addHelpText(
      'after',
      `\nActions:\n  ${KNOWN_ACTIONS.join(', ')}\n` +
        '\nExamples:\n  svc audit list\n  svc audit list --follow --limit 10\n  svc audit list --merchant acme-ltd --action merchant.hold --since 7d\n  svc audit list --all -o jsonl\n',
    )
    .action(action(runtime, ListOptions, list))
  audit
    .command('show')
    .argument('<ordinal>', 'Its number, from svc audit list')
    .description('Show an operator action and what it changed')
    .addHelpText('after', '\nExamples:\n  svc audit show 412\n  svc audit show 412 -q after\n')
    .action(action(runtime, z.object({}), show))
  addExport(audit, runtime)
  addVerify(audit, runtime)
}

async function show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const [ordinal = ''] = args
  printOperatorAction(context, (await call(context.client(), getAuditEntry, { params: { ordinal } })).body)
}

async function list(context: Context, { options }: InputOf<typeof ListOptions>): Promise<CommandResult> {
  followTime(options)
  const { merchant, action: name, actor, follow, all, cursor, until } = options
  if (follow && (all || cursor !== undefined || until !== undefined))
    throw usageError('--follow begins with the newest: --all, --cursor and --until are for lists without it')
  const client = context.client()
  const filter = { merchant_id: await merchantId(client, merchant), action: name, actor, ...rangeOf(options) }
  if (follow) return followAudit(context, { query: filter, limit: options.limit, options })
  const { items, nextCursor } = await collectPages(options, async (page) => {
    return (await call(client, listAudit, { query: { ...filter, ...page } })).body
  })
  // Nothing under a name that nobody knows is no proof that nothing was done; a newer service may know more names.
  if (items.length === 0 && name !== undefined && !KNOWN_ACTIONS.some((known) => known === name)) {
    const near = nearestWord(name, KNOWN_ACTIONS)
    throw usageError(
      `--action: no action is called "${name}"; there are ${KNOWN_ACTIONS.join(', ')}`,
      near === undefined ? 'svc audit list' : `svc audit list --action ${near}`,
    )
  }
  context.print.list({
    items,
    fields: Object.keys(OperatorAction.shape),
    columns: AUDIT_COLUMNS,
    id: (row) => row.ordinal,
    empty: 'There are no such actions.',
  })
  if (nextCursor !== null) context.note(`There are more: --cursor ${nextCursor}, or --all`)
}

const POLL_MS = 2_000

/** More actions than this between two looks are not what a person follows; `svc audit list` has them. */
const PAGES_MAX = 10

type Query = NonNullable<OperationInput<typeof listAudit>['query']>

async function followAudit(
  context: Context,
  { query, limit, options }: { query: Query; limit: string; options: z.infer<typeof FollowOptions> },
): Promise<CommandResult> {
  const client = context.client()
  let last: string | undefined
  return follow(context, {
    options,
    pauseMs: POLL_MS,
    async read() {
      if (last !== undefined) return newerThan(client, last, query)
      return (await call(client, listAudit, { query: { ...query, limit: Number.parseInt(limit, 10) } })).body.data
    },
    show(rows) {
      printNews(context, rows)
      last = rows[0]?.ordinal ?? last ?? '0'
      return false
    },
  })
}

async function newerThan(client: Client, ordinal: string, query: Query): Promise<OperatorAction[]> {
  const found: OperatorAction[] = []
  const read = rowsOf<OperatorAction>(
    async (page) => (await call(client, listAudit, { query: { ...query, ...page, limit: PAGE_SIZE_MAX } })).body,
    PAGES_MAX,
  )
  for await (const row of read) {
    if (BigInt(row.ordinal) <= BigInt(ordinal)) break
    found.push(row)
  }
  return found
}

function printNews({ io, print }: Context, newestFirst: readonly OperatorAction[]): void {
  for (const row of newestFirst.toReversed()) {
    if (print.isMachine) print.record({ item: row, lines: [], id: row.ordinal })
    else io.stdout.write(`${lineOf(row, print.paint)}\n`)
  }
}

function lineOf(row: OperatorAction, paint: Context['paint']): string {
  const { ordinal, action: name, reason, created_at: at } = row
  const told = [name, subjectText(row), changedText(row), actorText(row), reason ?? ''].filter((text) => text !== '')
  return `${paint('dim', `${ordinal.padStart(5)}  ${shortTime(at)}`)}  ${printable(told.join('  '))}`
}
