import { CommanderError } from 'commander'
import { quoted } from './called-as.ts'
import { isJson } from './context.ts'
import type { Runtime } from './context.ts'
import { CliError, reportError, usageError } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import type { ExitCode } from './exit-codes.ts'
import type { ColorFlag, Io } from './io.ts'
import { makeProgram } from './program.ts'

/**
 * Runs one command line and returns its exit code. Everything it says goes through `io`; it never ends the process.
 * @param argv the words after `svc`
 */
export async function run(argv: readonly string[], io: Io): Promise<ExitCode> {
  const runtime: Runtime = { io, exitCode: EXIT.ok }
  const words = withJsonFields(argv)
  try {
    const program = makeProgram(runtime)
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
    const told = error instanceof CommanderError ? fromCommander(error, words) : error
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

/** Commander's own errors, in our words and with our exit code. */
function fromCommander(error: CommanderError, words: readonly string[]): CliError {
  const [message = '', ...rest] = error.message.replace(/^error: /, '').split('\n')
  const meant = /^\(Did you mean (?:one of )?([^,?]+).*\?\)$/.exec(rest.join(' '))?.[1]
  const wrong = /'([^']+)'/.exec(message)?.[1]
  if (meant === undefined || wrong === undefined) {
    // The help of a command that there is: without the word that is none.
    const known = error.code === 'commander.unknownCommand' ? words.slice(0, words.indexOf(wrong ?? '')) : words
    return usageError(message, `svc ${commandWords(known)}--help`)
  }
  // `disputes` asks to see some; `dispute` makes one.
  if (wrong === `${meant}s`) return usageError(message, listMeant(words, wrong))
  return usageError(message, `svc ${words.map((word) => (word === wrong ? meant : quoted(word))).join(' ')}`)
}

/** Lists that stand below another noun than theirs. */
const LISTS_ELSEWHERE: ReadonlyMap<string, (id: string) => string> = new Map([
  ['payments disputes', (id) => `svc portal disputes list --payment ${id}`],
  ['p disputes', (id) => `svc portal disputes list --payment ${id}`],
])

function listMeant(words: readonly string[], wrong: string): string {
  const at = words.indexOf(wrong)
  const noun = words.slice(0, at)
  const id = words[at + 1]
  const list = LISTS_ELSEWHERE.get(words.slice(0, at + 1).join(' '))
  return list?.(id === undefined || id.startsWith('-') ? '<payment>' : quoted(id)) ?? `svc ${commandWords(noun)}--help`
}

function commandWords(words: readonly string[]): string {
  const end = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word))
  return words
    .slice(0, end === -1 ? words.length : end)
    .slice(0, 2)
    .map((word) => `${word} `)
    .join('')
}
