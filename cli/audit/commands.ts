import type { Command } from 'commander'
import { z } from 'zod'
import { OperatorAction, listAudit } from '../../src/wire/audit.ts'
import { call } from '../client/call.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { findMerchant } from '../merchants/find.ts'
import { collectPages } from '../client/pages.ts'
import { TimeRange, rangeOf, withTimeRange } from '../kit/time-range.ts'
import { KNOWN_ACTIONS, nearestAction } from './actions.ts'
import { addExport } from './export.ts'
import { addShow } from './show.ts'
import { followAudit } from './follow.ts'
import { addVerify } from './verify.ts'
import { AUDIT_COLUMNS } from './view.ts'
import { FollowOptions, followTime, followable } from '../kit/follow.ts'
import { Paging, paged } from '../kit/paging.ts'

const ListOptions = Paging.extend({
  merchant: z.string().optional(),
  action: z.string().optional(),
  actor: z.string().optional(),
  ...TimeRange.shape,
  ...FollowOptions.shape,
})

/** `svc audit`: what operators did, which nobody can take back. */
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
  addShow(audit, runtime)
  addExport(audit, runtime)
  addVerify(audit, runtime)
}

async function list(context: Context, { options }: CommandInput<z.infer<typeof ListOptions>>): Promise<CommandResult> {
  followTime(options)
  const { merchant, action: name, actor, follow, all, cursor, until } = options
  if (follow && (all || cursor !== undefined || until !== undefined))
    throw usageError('--follow begins with the newest: --all, --cursor and --until are for lists without it')
  const client = context.client()
  const filter = {
    ...(merchant === undefined ? {} : { merchant_id: (await findMerchant(client, [merchant])).merchant.id }),
    ...(name === undefined ? {} : { action: name }),
    ...(actor === undefined ? {} : { actor }),
    ...rangeOf(options),
  }
  if (follow) return followAudit(context, { query: filter, limit: options.limit, options })
  const { items, nextCursor } = await collectPages(options, async (page) => {
    return (await call(client, listAudit, { query: { ...filter, ...page } })).body
  })
  if (items.length === 0 && name !== undefined) mustBeKnown(name)
  context.print.list({
    items,
    fields: Object.keys(OperatorAction.shape),
    columns: AUDIT_COLUMNS,
    id: (row) => row.ordinal,
    empty: 'There are no such actions.',
  })
  if (nextCursor !== null) context.note(`There are more: --cursor ${nextCursor}, or --all`)
  return undefined
}

/**
 * Nothing under a name that nobody knows is no proof that nothing was done. A newer service may record more than this
 * version knows, so the name is held against the list only where nothing was found.
 * @throws {CliError} exit code 2
 */
function mustBeKnown(name: string): void {
  if (KNOWN_ACTIONS.some((known) => known === name)) return
  const meant = nearestAction(name)
  throw usageError(
    `--action: no action is called "${name}"; there are ${KNOWN_ACTIONS.join(', ')}`,
    meant === undefined ? 'svc audit list' : `svc audit list --action ${meant}`,
  )
}
