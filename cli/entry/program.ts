import { Command, Help, CommanderError } from 'commander'
import { packageCommit, packageVersion } from '../../src/lib/package-root.ts'
import { asTyped } from '../base/command-hints.ts'
import { NOUNS } from '../base/command-names.ts'
import { CliError, reportError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import type { ExitCode } from '../base/exit-codes.ts'
import { hasFlag } from '../base/flag-words.ts'
import { useColor } from '../base/io.ts'
import type { Io } from '../base/io.ts'
import type { Runtime } from '../kit/context.ts'
import { makePager } from '../output/pager.ts'
import { formOf } from './environment.ts'
import { ROOT, readNoun } from './tree/command-file.ts'
import { fill, optionOf } from './tree/fill.ts'
import { firstPage, fitHelp, globalLine } from './tree/help-text.ts'

/**
 * The tree of commands, as far as these words need it: every noun is there with its name and summary, and those that are
 * among the words have all that stands below them. Nothing runs before `parseAsync`.
 */
async function makeProgram(runtime: Runtime, words: readonly string[]): Promise<Command> {
  const program: Command = prepare(new Command(ROOT.name), runtime)
    .description(ROOT.summary)
    .version([packageVersion(), packageCommit()].filter(Boolean).join(' '), '-V, --version', 'Print the version')
    .helpOption('-h, --help', 'Print help')
    .helpCommand(false)
    .addHelpText('afterAll', ({ command }) => (command === program ? '' : globalLine(runtime.io)))
  for (const option of ROOT.options) program.addOption(optionOf(option, { words, help: 'svc help global' }))
  const isAll = words.includes('help') && words.includes('all')
  for (const { name, summary } of NOUNS) {
    const command = program.command(name).helpCommand(false).description(summary)
    // A word that names a noun and means something else costs a line that is not needed.
    if (isAll || words.includes(name)) fill(command, await readNoun(name), { runtime, words })
  }
  return program
}

export function makeWholeProgram(runtime: Runtime): Promise<Command> {
  return makeProgram(
    runtime,
    NOUNS.map(({ name }) => name),
  )
}

/** Subcommands inherit these settings as long as they are added with `command()`. */
function prepare(program: Command, runtime: Runtime): Command {
  const { io } = runtime
  return program
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        const fitting = fitHelp(text, io.stdout.isTTY ? io.stdout.columns : Infinity)
        if (runtime.pager === undefined) io.stdout.write(fitting)
        else runtime.pager.write(fitting)
      },
      writeErr: (text) => io.stderr.write(fitHelp(text, io.stderr.isTTY ? io.stderr.columns : Infinity)),
      // Errors are reported once, at the end, in the form that was asked for.
      outputError: () => undefined,
      getOutHelpWidth: () => io.stdout.columns,
      getErrHelpWidth: () => io.stderr.columns,
      getOutHasColors: () => useColor('auto', io.env, io.stdout.isTTY),
      getErrHasColors: () => useColor('auto', io.env, io.stderr.isTTY),
    })
    .configureHelp(helpOf(program, io))
}

function helpOf(program: Command, io: Io): Partial<Help> {
  const plain = new Help()
  return {
    formatHelp: (command, helper) =>
      command === program ? firstPage(io) : plain.formatHelp.call(helper, command, helper),
    subcommandTerm: (command) => command.name() + argumentsOf(command),
    commandUsage: (command) => plain.commandUsage(command).replace('|ls', ''),
    styleTitle: (text) => `\u001b[1m${text}\u001b[22m`,
  }
}

function argumentsOf(command: Command): string {
  return command
    .usage()
    .replace(/^\[options\]/, '')
    .replace(/ \[command\]$/, '')
}

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
 * Parses the words and runs their command. What is longer than the terminal is shown before how the command ended. A
 * command that was rejected for want of a new sign-in is repeated after one, if the person says so.
 */
export async function runProgram(io: Io, words: readonly string[], isRepeat = false): Promise<ExitCode> {
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
    const form = formOf(words, io)
    const code = reportError(io, reported, { ...form, given: runtime.given })
    if (isRepeat || form.json || !needsSignIn(reported)) return code
    const { signInAgain } = await import('./sign-in-again.ts')
    const isDone = await signInAgain(io, (login) => runProgram(io, login, true), runtime.given)
    return isDone ? runProgram(io, words, true) : code
  }
}

function needsSignIn(error: unknown): boolean {
  return error instanceof CliError && error.code === 'INSUFFICIENT_USER_AUTHENTICATION'
}

async function inOurWords(error: CommanderError, words: readonly string[]): Promise<CliError> {
  return (await import('./tree/wrong-words.ts')).fromCommander(error, words)
}
