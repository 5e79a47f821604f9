import type { Command } from 'commander'
import { z } from 'zod'
import { InboxItem, getInbox, getPortalInbox } from '../../src/wire/console.ts'
import { sideOf, isBoth, viewerOf } from '../client/auth/acting-side.ts'
import { untilText } from '../base/ages.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { action } from '../kit/context.ts'
import type { CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { collectPages } from '../client/pages.ts'
import type { PageReader } from '../client/pages.ts'
import type { Column } from '../output/table.ts'
import { DataOption } from '../kit/option-values.ts'
import { Paging, paged } from '../kit/paging.ts'

const InboxOptions = Paging.extend({
  platform: z.boolean().default(false),
  merchant: z.boolean().default(false),
})

export function addInbox(inbox: Command, runtime: Runtime): void {
  paged(
    inbox
      .addOption(
        new DataOption('--platform', 'Show the operator inbox (default when signed in as both)').conflicts('merchant'),
      )
      .option('--merchant', 'Show the merchant inbox when signed in as both'),
  )
    .addHelpText(
      'after',
      '\nEach line ends with the command that deals with it.\n\nExamples:\n  svc inbox\n  svc inbox --merchant\n  svc inbox --platform --all\n  svc inbox -q [].command\n',
    )
    .action(action(runtime, InboxOptions, list))
}

async function list(context: Context, { options }: InputOf<typeof InboxOptions>): Promise<CommandResult> {
  const client = context.client()
  const side = sideOf(options)
  const { kind } = await viewerOf(client, side)
  const isOperator = kind === 'platform'
  const { items, nextCursor } = await collectPages(options, reader(client, isOperator))
  context.print.list({
    items,
    fields: Object.keys(InboxItem.shape),
    columns: columnsOf(isOperator),
    id: (row) => row.id,
    empty: `Nothing waits for you.${isBoth(client) ? otherHalf(isOperator) : ''}`,
  })
  if (nextCursor !== null) context.note(`There are more: --cursor ${nextCursor}, or --all`)
}

function otherHalf(isOperator: boolean): string {
  return isOperator
    ? ' That is as the operator; as the merchant: svc inbox --merchant'
    : ' That is as the merchant; as the operator: svc inbox --platform'
}

function reader(client: Client, isOperator: boolean): PageReader<InboxItem> {
  return async (query) => {
    return (isOperator ? await call(client, getInbox, { query }) : await call(client, getPortalInbox, { query })).body
  }
}

function columnsOf(isOperator: boolean): Column<InboxItem>[] {
  const whose: Column<InboxItem> = {
    title: 'merchant',
    value: (row) => row.trading_name,
    dropped: 1,
    least: 10,
  }
  return [
    {
      title: 'due',
      value: (row) => untilText(row.due_at, Date.now()),
      style: (text) => (text.endsWith(' over') ? 'red' : undefined),
    },
    { title: 'kind', value: (row) => row.kind, dropped: 2 },
    ...(isOperator ? [whose] : []),
    { title: 'what', value: (row) => row.summary, least: 16 },
    { title: 'command', value: (row) => row.command, least: 24 },
  ]
}
