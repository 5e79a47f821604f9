import type { Operation, OperationInput } from '../../src/wire/operation.ts'
import { parseTime } from '../base/times.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { LIMIT, collectPages } from '../client/pages.ts'
import type { Page, PageReader } from '../client/pages.ts'
import type { ListView } from '../output/output.ts'
import type { Flags, RowOf } from './action.ts'
import { grouped } from './command.ts'
import type { Input } from './command.ts'
import type { Context } from './context.ts'
import { matching } from './read-values.ts'

/** The flag by which an operator means what belongs to all merchants, where the same command shows a merchant its own. */
export const ALL_MERCHANTS = {
  allMerchants: { summary: 'Include all merchants, as an operator (if only an operator is signed in)' },
} as const

export const PAGING = grouped('Paging:', {
  limit: {
    value: 'count',
    summary: 'Number of results, 1 to 100',
    initial: '50',
    read: matching(LIMIT, 'must be a number from 1 to 100'),
  },
  cursor: { value: 'cursor', summary: 'Continue from this cursor of the previous page' },
  all: { summary: 'Fetch all pages' },
})
export type Paging = Input<typeof PAGING>

/** The pages of a list of the service. */
export function pagesIn<O extends Operation>(
  client: Client,
  list: O,
  input: OperationInput<O> = {},
): PageReader<RowOf<O>> {
  return async (page) => {
    const query = { ...Object(input.query), ...page }
    // A list has pages, which the type of any operation does not say.
    return (await call(client, list, { ...input, query } as OperationInput<O>)).body as Page<RowOf<O>>
  }
}

/**
 * Reads the pages that the options ask for, prints their rows, and says how the list continues. A view as a function gets with no
 * rows what to say of them, unless there are none at all.
 */
export async function listPages<Row>(
  context: Context,
  paging: Paging,
  read: PageReader<Row>,
  view: ListView<Row> | ((rows: Row[], empty?: string) => void | Promise<void>),
): Promise<void> {
  const { items, nextCursor } = await collectPages(paging, read)
  const empty = nextCursor === null ? undefined : 'None so far.'
  if (typeof view === 'function') await view(items, empty)
  else context.print.list(items, empty === undefined ? view : { ...view, empty })
  if (nextCursor !== null) context.note(`There are more: --cursor ${nextCursor}${paging.all ? '' : ', or --all'}`)
}

/** The period of everything that has one: the first moment is part of it, and the last is not. */
type Range = { since?: string | undefined; until?: string | undefined }

/** Its flags. @param what happened in that time, such as created */
export function timeRange(what: string) {
  return {
    since: {
      value: 'time',
      summary: `${what} at this time or later: 2h, 2026-11-21, 2026-11-21T09:30:00Z`,
      member: 'from',
    },
    until: { value: 'time', summary: `${what} before this time`, member: 'to' },
  } as const satisfies Flags
}

/** Its times as requests have them. @throws {CliError} exit code 2 for a time that is none */
export function rangeOf({ since, until }: Range): { from: string | undefined; to: string | undefined } {
  return { from: since && parseTime(since, '--since'), to: until && parseTime(until, '--until') }
}

const LONDON = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/London', dateStyle: 'short' })

/** The same where the service goes by the day, which is London's: in summer a new one begins an hour before that of UTC. */
export function daysOf(range: Range): ReturnType<typeof rangeOf> {
  const { from, to } = rangeOf(range)
  return { from: from && londonDay(from), to: to && londonDay(to) }
}

export function londonDay(time: string): string {
  return LONDON.format(new Date(time))
}
