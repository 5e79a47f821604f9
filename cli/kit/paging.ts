import { Option } from 'commander'
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

/** The options of every list that comes in pages. */
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

/** An option whose rules can be read back: what it excludes, and how its choices are written. */
export class DataOption extends Option {
  excluded: readonly string[] = []
  synonyms: Readonly<Record<string, string>> = {}
  isList = false

  override conflicts(names: string | string[]): this {
    this.excluded = [...this.excluded, ...[names].flat()]
    return super.conflicts(names)
  }

  /** Other words for some of the choices, in capitals: those that tables show where room is short. */
  alsoTaking(synonyms: Readonly<Record<string, string>>): this {
    this.synonyms = synonyms
    return this
  }

  /** Takes several choices, between commas or by being repeated. */
  takingSeveral(): this {
    this.isList = true
    return this
  }
}

/** Reads an option that may be repeated: each use adds one more value. */
export function collect(value: string, before: string[] | undefined): string[] {
  return [...(before ?? []), value]
}

/** The flag by which an operator means what belongs to all merchants, where the same command shows a merchant its own. */
export function forAllMerchants(command: Command): Command {
  return command.option('--all-merchants', 'Include all merchants, as an operator (if only an operator is signed in)')
}
