import { CliError } from '../base/errors.ts'
import type { CliErrorOptions } from '../base/errors.ts'
import type { Io } from '../base/io.ts'
import { unwrittenText } from '../base/sink.ts'

/**
 * To be asked right after something was printed that can't be asked for again: that it got where it was to go, its
 * reader among that.
 * @param lost what is lost otherwise, as a sentence goes on after "so"; `hint` is the way out of it
 * @throws {CliError} RESULT_NOT_WRITTEN, exit code 1
 */
export async function mustBeWritten(
  { stdout }: Pick<Io, 'stdout'>,
  lost: string,
  options: Pick<CliErrorOptions, 'hint' | 'facts'>,
): Promise<void> {
  const error = await stdout.failure?.()
  if (error !== undefined) throw notWritten(error, { ...options, lost })
}

/**
 * Whether its reader is still there.
 * @throws {CliError} RESULT_NOT_WRITTEN, exit code 1, where it can't be written; a reader that has gone is no failure
 */
export async function isStillRead({ stdout }: Pick<Io, 'stdout'>): Promise<boolean> {
  const error = await stdout.failure?.()
  if (error !== undefined && error.code !== 'EPIPE') throw notWritten(error, {})
  return error === undefined && stdout.isGone !== true
}

type Loss = Pick<CliErrorOptions, 'hint' | 'facts'> & { lost?: string }

function notWritten(error: NodeJS.ErrnoException, { lost, ...options }: Loss): CliError {
  const message = `${unwrittenText(error)}${lost === undefined ? '' : `, so ${lost}`}`
  return new CliError('RESULT_NOT_WRITTEN', message, { cause: error, ...options })
}
