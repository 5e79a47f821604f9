import type { Command } from 'commander'
import { z } from 'zod'
import { parseTime } from '../base/times.ts'
import { LIMIT, collectPages } from '../client/pages.ts'
import type { PageReader } from '../client/pages.ts'
import type { Context } from './context.ts'

export const Paging = z.object({
  limit: z.string().regex(LIMIT, 'must be a number from 1 to 100'),
  cursor: z.string().optional(),
  all: z.boolean().default(false),
})
export type Paging = z.infer<typeof Paging>

export function paged(command: Command): Command {
  return command
    .optionsGroup('Paging:')
    .option('--limit <count>', 'Number of results per page, 1 to 100', '50')
    .option('--cursor <cursor>', 'Continue from this cursor of the previous page')
    .option('--all', 'Fetch all pages')
}

/** Reads the pages that the options ask for, prints their rows, and says how the list continues. */
export async function listPages<Row>(
  context: Context,
  paging: Paging,
  read: PageReader<Row>,
  print: (rows: Row[]) => void,
): Promise<void> {
  const { items, nextCursor } = await collectPages(paging, read)
  print(items)
  if (nextCursor !== null) context.note(`There are more: --cursor ${nextCursor}, or --all`)
}

/** The period of everything that has one: the first moment is part of it, and the last is not. */
export const TimeRange = z.object({ since: z.string().optional(), until: z.string().optional() })
export type TimeRange = z.infer<typeof TimeRange>

/** @param what happened in that time, such as created */
export function withTimeRange(command: Command, what: string): Command {
  return command
    .option('--since <time>', `${what} at this time or later: 2h, 2026-11-21, 2026-11-21T09:30:00Z`)
    .option('--until <time>', `${what} before this time`)
}

/** Its times as requests have them. @throws {CliError} exit code 2 for a time that is none */
export function rangeOf({ since, until }: TimeRange): { from: string | undefined; to: string | undefined } {
  return { from: since && parseTime(since, '--since'), to: until && parseTime(until, '--until') }
}

/** The same where the service goes by the day. */
export function daysOf(range: TimeRange): ReturnType<typeof rangeOf> {
  const { from, to } = rangeOf(range)
  return { from: from?.slice(0, 10), to: to?.slice(0, 10) }
}
