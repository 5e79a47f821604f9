import type { ExitCode } from '../../../cli/base/exit-codes.ts'
import type { World } from './world.ts'

/** Who types it: what it needs to be believed stands in the environment. */
export type Who = 'operator' | 'merchant' | 'payer' | 'customer' | 'nobody'

/** The words behind the command's own, with what else it is given. */
export type CommandLine = { words: readonly string[]; env?: NodeJS.ProcessEnv; stdin?: string }

/** Words as they stand; or what makes them, anew for each run of what writes, so that none needs what another left. */
export type Args = readonly string[] | ((world: World) => CommandWords | Promise<CommandWords>)
type CommandWords = readonly string[] | CommandLine

/** What it is refused for, first of all. */
export type Refusal = {
  args: Args
  exit: ExitCode
  /** The error's code. */
  error: string
}

/** What is left out, and why. */
type Skip = Partial<Record<'id' | 'query' | 'width' | 'dryRun' | 'closedPort' | 'json' | 'jsonl', string>>

/** A command that is run. */
export type Ran = {
  as: Who
  args?: Args
  /** It changes something, or may be done once: each run has fixtures of its own. */
  writes?: true
  refusal: Refusal
  /** It asks no service: a port where nothing listens is nothing to it. */
  local?: true
  skip?: Skip
}

/** A command that another file runs, also as JSON, and to the exit code of its refusal; or why there is no such form. */
export type Elsewhere = { elsewhere: string; json: true | string; refused: ExitCode | string }

export type Row = Ran | Elsewhere
export type Rows = Readonly<Record<string, Row>>

export function typedOf(given: CommandWords): CommandLine {
  return 'words' in given ? given : { words: given }
}

export async function typedBy(args: Args | undefined, world: World): Promise<CommandLine> {
  if (args === undefined) return { words: [] }
  return typedOf(typeof args === 'function' ? await args(world) : args)
}
