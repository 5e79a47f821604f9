import type { Command } from 'commander'
import { z } from 'zod'
import { parseTime } from '../base/times.ts'

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
