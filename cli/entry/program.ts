import { Command, Help } from 'commander'
import { packageVersion } from '../../src/lib/package-root.ts'
import { NOUNS } from '../base/command-names.ts'
import { useColor } from '../base/io.ts'
import type { Io } from '../base/io.ts'
import type { Runtime } from '../kit/context.ts'
import { ROOT, readNoun } from './tree/command-file.ts'
import { fill, optionOf } from './tree/fill.ts'
import { firstPage, fitHelp, globalLine } from './tree/help-text.ts'

/**
 * The tree of commands, as far as these words need it: every noun is there with its name and summary, and those that are
 * among the words have all that stands below them. Nothing runs before `parseAsync`.
 */
export async function makeProgram(runtime: Runtime, words: readonly string[]): Promise<Command> {
  const program: Command = prepare(new Command(ROOT.name), runtime)
    .description(ROOT.summary)
    .version(packageVersion(), '-V, --version', 'Print the version')
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
