import { CommanderError } from 'commander'
import type { Command } from 'commander'
import { asTyped } from '../base/command-hints.ts'
import type { Runtime } from '../kit/context.ts'
import { CliError, reportError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import type { ExitCode } from '../base/exit-codes.ts'
import { hasFlag } from '../base/flag-words.ts'
import { NeedsCommand } from './tree/from-outline.ts'
import type { Io } from '../base/io.ts'
import { readOutlines } from './tree/outline-file.ts'
import type { FindOutline } from './tree/outline-file.ts'
import { makePager } from '../output/pager.ts'
import { makeProgram } from './program.ts'
import { formOf } from './error-format.ts'

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

/**
 * Help and mistakes are told from outlines alone, which are read in no time; what does something is loaded for it. What
 * is longer than the terminal is shown before anything is told of how the command ended.
 */
export async function runProgram(
  io: Io,
  words: readonly string[],
  findOutline: FindOutline = readOutlines(),
): Promise<ExitCode> {
  const pager = makePager(io, !hasFlag(words, '--no-pager'))
  const runtime: Runtime = { io, exitCode: EXIT.ok, pager }
  let program = await makeProgram(runtime, words, findOutline)
  try {
    if (!(await isDone(program, words))) {
      program = await makeProgram(runtime, words)
      await program.parseAsync(words, { from: 'user' })
    }
    await pager.flush()
    return runtime.exitCode
  } catch (error) {
    await pager.flush()
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok
    // A noun without a verb: its help has been printed on standard error.
    if (error instanceof CommanderError && error.code === 'commander.help') return EXIT.usage
    const told = error instanceof CommanderError ? await inOurWords(error, { program, words }) : error
    return reportError(io, told, { ...formOf(words, io), given: runtime.given })
  }
}

/** Runs the words as far as outlines know them. @returns false where they name what has to be loaded */
async function isDone(program: Command, words: readonly string[]): Promise<boolean> {
  try {
    if (words.length === 0) program.outputHelp()
    else await program.parseAsync(words, { from: 'user' })
    return true
  } catch (error) {
    if (error instanceof NeedsCommand) return false
    throw error
  }
}

async function inOurWords(
  error: CommanderError,
  typed: { program: Command; words: readonly string[] },
): Promise<CliError> {
  return (await import('./tree/wrong-words.ts')).fromCommander(error, typed)
}
