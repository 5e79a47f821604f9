import { CommanderError } from 'commander'
import { asTyped } from '../base/command-hints.ts'
import type { Runtime } from '../kit/context.ts'
import { CliError, reportError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import type { ExitCode } from '../base/exit-codes.ts'
import { hasFlag } from '../base/flag-words.ts'
import type { Io } from '../base/io.ts'
import { makePager } from '../output/pager.ts'
import { makeProgram } from './program.ts'
import { formOf } from './environment.ts'

/**
 * The console; or the first page of the help, where there is no service yet that it could show.
 * @param flags options of every command, such as `--state-dir`
 */
export async function runConsole(io: Io, flags: readonly string[]): Promise<ExitCode> {
  const words = [...flags, 'ui']
  const pager = makePager(io, true)
  const runtime: Runtime = { io, exitCode: EXIT.ok, pager }
  const program = await makeProgram(runtime, words)
  try {
    await program.parseAsync(words, { from: 'user' })
    return runtime.exitCode
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'NOT_RUNNING') return reportError(io, error, formOf([], io))
    program.outputHelp()
    await pager.flush()
    io.stderr.write(`\n${asTyped('The console opens here once there is a service: svc up', io.calledAs)}\n`)
    return EXIT.ok
  }
}

/** Parses the words and runs their command. What is longer than the terminal is shown before how the command ended. */
export async function runProgram(io: Io, words: readonly string[]): Promise<ExitCode> {
  const pager = makePager(io, !hasFlag(words, '--no-pager'))
  const runtime: Runtime = { io, exitCode: EXIT.ok, pager }
  const program = await makeProgram(runtime, words)
  try {
    if (words.length === 0) program.outputHelp()
    else await program.parseAsync(words, { from: 'user' })
    await pager.flush()
    return runtime.exitCode
  } catch (error) {
    await pager.flush()
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok
    // A noun without a verb: its help has been printed on standard error.
    if (error instanceof CommanderError && error.code === 'commander.help') return EXIT.usage
    const reported = error instanceof CommanderError ? await inOurWords(error, words) : error
    return reportError(io, reported, { ...formOf(words, io), given: runtime.given })
  }
}

async function inOurWords(error: CommanderError, words: readonly string[]): Promise<CliError> {
  return (await import('./tree/wrong-words.ts')).fromCommander(error, words)
}
