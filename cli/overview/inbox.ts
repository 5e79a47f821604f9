import { InboxItem, getInbox, getPortalInbox } from '../../src/wire/console.ts'
import { untilText } from '../base/ages.ts'
import { asTyped } from '../base/command-hints.ts'
import { sideOf, isBoth, viewerOf } from '../client/auth/acting-side.ts'
import { command } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'
import { listPages, PAGING, pagesIn } from '../kit/paging.ts'
import type { Column } from '../output/table.ts'

export const list = command({
  command: 'inbox',
  summary: 'List tasks that need action, most urgent first',
  details: 'Each line ends with the command that deals with it.',
  examples: ['svc inbox', 'svc inbox --merchant', 'svc inbox --platform --all', 'svc inbox -q [].command'],
  flags: {
    platform: { summary: 'Show the operator inbox (default when signed in as both)', excludes: ['merchant'] },
    merchant: { summary: 'Show the merchant inbox when signed in as both' },
    ...PAGING,
  },
  async run(context, input) {
    const client = context.client()
    const side = sideOf(input)
    const { kind } = await viewerOf(client, side)
    const isOperator = kind === 'platform'
    await listPages(context, input, pagesIn(client, isOperator ? getInbox : getPortalInbox), {
      fields: InboxItem,
      columns: columnsOf(isOperator, context),
      id: (row) => row.id,
      empty: `No tasks need action.${isBoth(client) ? otherHalf(isOperator, context) : ''}`,
    })
  },
})

function otherHalf(isOperator: boolean, { io, flags }: Context): string {
  const text = isOperator
    ? ' That is as the operator; as the merchant: svc inbox --merchant'
    : ' That is as the merchant; as the operator: svc inbox --platform'
  return asTyped(text, io.calledAs, flags)
}

function columnsOf(isOperator: boolean, { io, flags }: Context): Column<InboxItem>[] {
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
    { title: 'command', value: (row) => asTyped(row.command, io.calledAs, flags), least: 24 },
  ]
}
