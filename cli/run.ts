import { CommanderError } from 'commander'
import type { Command, Option } from 'commander'
import { quoted } from './called-as.ts'
import { isJson } from './context.ts'
import type { Runtime } from './context.ts'
import { CliError, reportError, usageError } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import type { ExitCode } from './exit-codes.ts'
import type { ColorFlag, Io } from './io.ts'
import { notCommand } from './not-commands.ts'
import { makeProgram } from './program.ts'

/**
 * Runs one command line and returns its exit code. Everything it says goes through `io`; it never ends the process.
 * @param argv the words after `svc`
 */
export async function run(argv: readonly string[], io: Io): Promise<ExitCode> {
  const runtime: Runtime = { io, exitCode: EXIT.ok }
  const words = withJsonFields(argv)
  const program = makeProgram(runtime)
  try {
    if (words.length === 0) {
      program.outputHelp()
      return EXIT.ok
    }
    await program.parseAsync(words, { from: 'user' })
    return runtime.exitCode
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok
    // A noun without a verb: its help has been printed on standard error.
    if (error instanceof CommanderError && error.code === 'commander.help') return EXIT.usage
    const told = error instanceof CommanderError ? fromCommander(error, { program, words }) : error
    return reportError(io, told, { ...formOf(words, io), given: runtime.given })
  }
}

/**
 * `--json` takes its fields after an equals sign, or as the next word when that can only be fields (`a,b`, `net_amount`):
 * a word such as an id must stay an argument of the command.
 */
function withJsonFields(argv: readonly string[]): string[] {
  const words: string[] = []
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? ''
    if (word === '--') return [...words, ...argv.slice(index)]
    if (word !== '--json') words.push(word)
    else if (/^[a-z][a-z0-9_.,]*[_.,][a-z0-9_.,]*$/.test(argv[index + 1] ?? ''))
      words.push(`--json=${argv[(index += 1)]}`)
    else words.push('--json=')
  }
  return words
}

/** How errors are told, known even when the command line could not be parsed. */
function formOf(words: readonly string[], io: Io): { json: boolean; color: ColorFlag } {
  const valueOf = (...names: string[]): string | undefined => {
    const at = words.findIndex((word) => names.some((name) => word === name || word.startsWith(`${name}=`)))
    const word = words[at]
    return word?.includes('=') === true ? word.slice(word.indexOf('=') + 1) : words[at + 1]
  }
  const hasOutput = words.some((word) => /^(-o|--output)(=|$)/.test(word))
  const output = hasOutput ? valueOf('-o', '--output')?.toLowerCase() : undefined
  const json = words.some((word) => word.startsWith('--json='))
  const color = words.some((word) => /^--color(=|$)/.test(word)) ? valueOf('--color') : 'auto'
  return {
    json: output === undefined ? json || isJson({}, io.env) : output === 'json' || output === 'jsonl',
    color: color === 'always' || color === 'never' ? color : 'auto',
  }
}

type Typed = { program: Command; words: readonly string[] }

/** Commander's own errors, in our words and with our exit code. */
function fromCommander(error: CommanderError, { program, words }: Typed): CliError {
  const [message = '', ...rest] = error.message.replace(/^error: /, '').split('\n')
  const wrong = /'([^']+)'/.exec(message)?.[1]
  const never = notCommand(`${commandWords({ program, words })}${wrong ?? ''}`)
  if (never !== undefined) return usageError(...never)
  const meant = meantBy(wrong, { guess: guessIn(rest.join(' ')), program, words })
  if (meant === undefined || wrong === undefined)
    return usageError(message, `svc ${commandWords({ program, words })}--help`)
  // `disputes` asks to see some; `dispute` makes one.
  if (wrong === `${meant}s`) return usageError(message, listMeant({ program, words }, wrong))
  return usageError(message, `svc ${words.map((word) => (word === wrong ? meant : quoted(word))).join(' ')}`)
}

function guessIn(text: string): string | undefined {
  return /^\(Did you mean (?:one of )?([^,?]+).*\?\)$/.exec(text)?.[1]
}

/** Of flags the one whose last part was typed; or the guess, where it begins as what was typed does. */
function meantBy(
  wrong: string | undefined,
  { guess, program, words }: Typed & { guess: string | undefined },
): string | undefined {
  if (wrong?.startsWith('--') !== true) return guess
  const ends = optionsOf(commandOf({ program, words }).command).filter(({ long }) => long?.endsWith(wrong.slice(1)))
  const [only] = ends
  if (ends.length === 1 && only?.long) return only.long
  return guess?.[2] === wrong[2] ? guess : undefined
}

/** Lists that stand below another noun than theirs. */
const LISTS_ELSEWHERE: ReadonlyMap<string, (id: string) => string> = new Map([
  ['payments disputes', (id) => `svc portal disputes list --payment ${id}`],
  ['p disputes', (id) => `svc portal disputes list --payment ${id}`],
])

function listMeant({ program, words }: Typed, wrong: string): string {
  const at = words.indexOf(wrong)
  const noun = words.slice(0, at)
  const id = words[at + 1]
  const list = LISTS_ELSEWHERE.get(words.slice(0, at + 1).join(' '))
  return (
    list?.(id === undefined || id.startsWith('-') ? '<payment>' : quoted(id)) ??
    `svc ${commandWords({ program, words: noun })}--help`
  )
}

/** The words that name a command there is, each with a blank behind it. */
function commandWords(typed: Typed): string {
  return commandOf(typed).named.join('')
}

/** The command that words name, and by which of them; options between them are passed over. */
function commandOf({ program, words }: Typed): { command: Command; named: string[] } {
  let command = program
  const named: string[] = []
  for (let index = 0; index < words.length; index += 1) {
    const word = words[index] ?? ''
    const option = optionsOf(command).find(({ long, short }) => long === word || short === word)
    // Its value is the next word.
    if (option?.required === true) index += 1
    if (word.startsWith('-')) continue
    const child = command.commands.find((each) => each.name() === word || each.aliases().includes(word))
    if (child === undefined) break
    command = child
    named.push(`${word} `)
  }
  return { command, named }
}

/** Those that may stand behind this command: its own, and those of the commands above it. */
function optionsOf(command: Command): readonly Option[] {
  return command.parent === null ? command.options : [...command.options, ...optionsOf(command.parent)]
}
