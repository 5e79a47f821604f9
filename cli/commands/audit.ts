import type { Command } from 'commander'
import { z } from 'zod'
import { OperatorAction, listAudit } from '../../src/wire/admin.ts'
import { call } from '../client.ts'
import { action } from '../context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../context.ts'
import { findMerchant } from '../find-merchant.ts'
import { collectPages } from '../pages.ts'
import { KNOWN_ACTIONS } from './audit/actions.ts'
import { AUDIT_COLUMNS } from './audit/view.ts'
import { paged } from './merchants.ts'
import { Paging } from './merchants/read.ts'

const ListOptions = Paging.extend({
  merchant: z.string().optional(),
  action: z.string().optional(),
  actor: z.string().optional(),
})

/** `svc audit`: what operators did, which nobody can take back. */
export function addAudit(program: Command, runtime: Runtime): void {
  const audit = program
    .command('audit')
    .helpCommand(false)
    .description('see what operators did, when and why')
    .addHelpText('after', '\nExamples:\n  svc audit list --merchant acme-ltd\n')
  paged(
    audit
      .command('list')
      .description('list what operators did, the newest first')
      .optionsGroup('Filters:')
      .option('--merchant <merchant>', 'only to this one: its id, realm or client id')
      .option('--action <name>', `only this: ${KNOWN_ACTIONS.join(', ')}`)
      .option('--actor <name>', 'only by this operator'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  svc audit list\n  svc audit list --merchant acme-ltd --action merchant.hold\n  svc audit list --all -o jsonl\n',
    )
    .action(action(runtime, ListOptions, list))
}

async function list(context: Context, { options }: CommandInput<z.infer<typeof ListOptions>>): Promise<CommandResult> {
  const client = context.client()
  const { merchant, action: name, actor } = options
  const filter = {
    ...(merchant === undefined ? {} : { merchant_id: (await findMerchant(client, [merchant])).merchant.id }),
    ...(name === undefined ? {} : { action: name }),
    ...(actor === undefined ? {} : { actor }),
  }
  const { items, nextCursor } = await collectPages(options, async (page) => {
    return (await call(client, listAudit, { query: { ...filter, ...page } })).body
  })
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
