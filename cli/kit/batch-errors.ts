import type { Context } from './context.ts'
import { CliError, reportError } from '../base/errors.ts'
import type { ExitCode } from '../base/exit-codes.ts'

/** The failures of a command that does the same to several things, of which one does not keep the others from it. */
export type Failures = {
  /** Tells it at once; what nobody expected is thrown on. */
  tell(error: unknown): void
  /** The exit code of the first; undefined where there was none. */
  exit(): ExitCode | undefined
}

export function makeFailures(context: Context): Failures {
  let first: ExitCode | undefined
  return {
    tell(error) {
      if (!(error instanceof CliError)) throw error
      const exit = reportError(context.io, error, { json: context.json, color: 'auto', given: context.flags })
      first ??= exit
    },
    exit: () => first,
  }
}
