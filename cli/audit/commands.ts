import type { Command } from 'commander'
import { z } from 'zod'
import { OperatorAction, getAuditEntry, listAudit } from '../../src/wire/audit.ts'
import { call } from '../client/call.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { nearestWord } from '../base/nearest-word.ts'
import { merchantId } from '../merchants/find.ts'
import { collectPages } from '../client/pages.ts'
import { TimeRange, rangeOf, withTimeRange, Paging, paged } from '../kit/paging.ts'
import { KNOWN_ACTIONS } from './actions.ts'
import { addExport } from './export.ts'
import { followAudit } from './follow.ts'
import { addVerify } from './verify.ts'
import { AUDIT_COLUMNS, printOperatorAction } from './view.ts'
import { FollowOptions, followTime, followable } from '../kit/follow.ts'

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
