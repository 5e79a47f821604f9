import type { Command } from 'commander'
import { z } from 'zod'
import { parseTime } from '../base/times.ts'
import { LIMIT } from '../client/pages.ts'

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
export function rangeOf({ since, until }: TimeRange): { from?: string; to?: string } {
  return {
    ...(since === undefined ? {} : { from: parseTime(since, '--since') }),
    ...(until === undefined ? {} : { to: parseTime(until, '--until') }),
  }
}
