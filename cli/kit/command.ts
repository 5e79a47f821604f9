import type { Flag, Flags, ValueOf } from './action.ts'
import type { Command } from 'commander'
import type { CommandResult, Context } from './context.ts'
import type { PlainContext } from './plain-context.ts'

/*
 * Commands that are no actions: they read, or do what is done to no one thing. Like actions they are data, from which help,
 * completion and the parser are made; only what runs is code.
 */

/** What was given for each flag: a switch was or was not, and one without a value is undefined. */
export type Input<F extends Flags> = { [Name in keyof F]: FlagInput<F[Name]> }
type FlagInput<F extends Flag> = F extends { repeats: true } | { several: true }
  ? ValueOf<F>[]
  : F extends { value: string }
    ? ValueOf<F> | (F extends { required: true } | { initial: string } ? never : undefined) | Bare<F>
    : boolean
type Bare<F extends Flag> = F extends { bare: true } ? true : never

export type PlainCommand<F extends Flags> = {
  /** The words behind `svc`. */
  command: string
  summary: string
  /** What help says beyond the summary. */
  details?: string
  /** Command lines that run as they stand. */
  examples: readonly string[]
  /** How help shows its arguments, where that is not as they are declared. */
  usage?: string
  flags: F
  /** @param own the command as commander has it, for what prints the help of others */
  run(context: Context, input: Input<F>, own: Command): Promise<CommandResult> | CommandResult
}

/** One that needs no service, for which little is loaded. */
export type LocalCommand<F extends Flags> = Omit<PlainCommand<F>, 'run'> & {
  isPlain: true
  run(context: PlainContext, input: Input<F>, own: Command): Promise<CommandResult> | CommandResult
}

/** Any of them, for readers: each was checked where it is declared. */
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyCommand = PlainCommand<any> | LocalCommand<any>

export function command<const F extends Flags>(declaration: PlainCommand<F>): PlainCommand<F> {
  return declaration
}

export function localCommand<const F extends Flags>(declaration: Omit<LocalCommand<F>, 'isPlain'>): LocalCommand<F> {
  return { ...declaration, isPlain: true }
}

/** Words that stand before those of several commands. Without examples its help has one of each of the first commands. */
export type Group = {
  command: string
  summary?: string
  details?: string
  examples?: readonly string[]
  /** Flags that stand before the commands. */
  flags?: Flags
}

/** An argument that has to be given. */
export function argument<const Value extends string>(value: Value, summary: string) {
  return { value, summary, positional: true, required: true } as const
}

export function grouped<const F extends Flags>(
  group: string,
  flags: F,
): { [Name in keyof F]: F[Name] & { group: string } } {
  const entries = Object.entries(flags).map(([name, flag]) => [name, { ...flag, group }])
  // One for each flag, which Object.fromEntries can't say.
  return Object.fromEntries(entries) as { [Name in keyof F]: F[Name] & { group: string } }
}
