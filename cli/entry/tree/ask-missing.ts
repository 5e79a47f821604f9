import type { Command } from 'commander'
import { usageError } from '../../base/errors.ts'
import type { Io } from '../../base/io.ts'
import { printable } from '../../base/text.ts'
import { partsOf } from './command-data.ts'
import type { CommandData } from './command-data.ts'
import { readChoice } from './choices.ts'

/** What a command takes, the command line that prints its help, and where to ask. */
type Asked = { data: CommandData; help: string; io: Io }
type Missing = { name: string; summary: string; choices: readonly string[] | undefined; message: string }

/**
 * Asks at a terminal for every required argument and option that the command line lacks, and gives them to the command.
 * @throws {CliError} exit code 2 for the first of them where nobody can be asked: in a pipe, in CI, with --no-input
 */
export async function askMissing(command: Command, { data, help, io }: Asked): Promise<void> {
  for (const { name, summary, choices } of data.arguments
    .filter(({ isRequired }) => isRequired)
    .slice(command.args.length))
    command.args.push(
      await ask({ name, summary, choices, message: `missing required argument '${name}'` }, { help, io }),
    )
  for (const option of data.options.filter(({ isRequired }) => isRequired)) {
    const { summary, choices, flags } = option
    const { long } = partsOf(option)
    const key = long.slice(2).replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
    if (command.getOptionValue(key) !== undefined) continue
    const message = `required option '${flags}' not specified`
    command.setOptionValueWithSource(
      key,
      await ask({ name: long.slice(2), summary, choices, message }, { help, io }),
      'cli',
    )
  }
}

async function ask({ name, summary, choices, message }: Missing, { help, io }: Omit<Asked, 'data'>): Promise<string> {
  const answer = isAtTerminal(io) ? await answerOf({ name, summary, choices }, io) : ''
  if (answer === '') throw usageError(message, help)
  return choices === undefined ? answer : readChoice(answer, { name: `<${name}>`, choices, line: { words: [], help } })
}

async function answerOf({ name, summary, choices }: Omit<Missing, 'message'>, io: Io): Promise<string> {
  const help = choices === undefined ? summary : choices.join(', ')
  io.stderr.write(printable(`${name} (${help}): `))
  return ((await io.stdin.readLine()) ?? '').trim()
}

function isAtTerminal({ stdin, stdout, stderr, env }: Io): boolean {
  return stdin.isTTY && stdout.isTTY && stderr.isTTY && ['', 'false'].includes(env['CI'] ?? '')
}
