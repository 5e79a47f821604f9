import { CommanderError } from 'commander'
import type { Command, Option } from 'commander'
import { asTyped, quoted, typedAs } from './called-as.ts'
import type { Runtime } from './context.ts'
import { COMPLETE_WORD, runEarly } from './early.ts'
import { CliError, reportError, usageError } from './errors.ts'
import { EXIT } from './exit-codes.ts'
import type { ExitCode } from './exit-codes.ts'
import { hasFlag, withoutDoubt } from './flag-words.ts'
import { releaseKeys } from './held-keys.ts'
import type { ColorFlag, Io } from './io.ts'
import { notCommand } from './not-commands.ts'
import { isJson } from './output-modes.ts'
import { readMap } from './map-file.ts'
import { withOurFlag } from './other-flags.ts'
import { makePager } from './pager.ts'
import { makeProgram } from './program.ts'
import { nearestWord } from './scenario/read/nearest.ts'
import { surroundingsOf } from './surroundings.ts'

/**
 * Runs one command line and returns its exit code. Everything it says goes through `io`; it never ends the process.
 * @param argv the words after `svc`
 */
export async function run(argv: readonly string[], given: Io): Promise<ExitCode> {
  // What is yet to be completed stays as it stands.
  const isCompleting = argv[0] === COMPLETE_WORD
  const words = isCompleting ? argv : withoutDoubt(argv)
  try {
    const io = isCompleting ? given : surroundingsOf(given, words)
    return (
      (await runEarly(words, io)) ??
      (await (opensConsole(words, io) ? runConsole(io) : runProgram(io, { argv, words })))
    )
  } catch (error) {
    return reportError(given, error, formOf(words, given))
  }
}

/** Whether no words mean the console: at a terminal that can draw it, and where nobody has said that nothing is asked. */
function opensConsole(words: readonly string[], { stdin, stdout, env }: Io): boolean {
  const isScript = (env['CI'] ?? '') !== '' && env['CI'] !== 'false'
  return words.length === 0 && stdin.isTTY && stdout.isTTY && env['TERM'] !== 'dumb' && !isScript
}

/** The console; or the first page of the help, where there is no service yet that it could show. */
async function runConsole(io: Io): Promise<ExitCode> {
  const words = ['ui']
  const pager = makePager(io, true)
  const runtime: Runtime = { io, exitCode: EXIT.ok, pager, words }
  const program = await makeProgram(runtime, words)
  try {
    await program.parseAsync(words, { from: 'user' })
    return runtime.exitCode
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'NOT_RUNNING') return reportError(io, error, formOf([], io))
    // The pager reads keys itself.
    releaseKeys({ keep: false })
    program.outputHelp()
    await pager.flush()
    io.stderr.write(`\n${asTyped('The console opens here once there is a service: svc up', io.calledAs)}\n`)
    return EXIT.ok
  }
}

type Line = { argv: readonly string[]; words: readonly string[] }

/** What is longer than the terminal is shown before anything is told of how the command ended. */
async function runProgram(io: Io, { argv, words }: Line): Promise<ExitCode> {
  // Only the console goes on with the keys; a pager reads its own.
  if (words[0] !== 'ui') releaseKeys({ keep: false })
  const pager = makePager(io, !hasFlag(words, '--no-pager'))
  const runtime: Runtime = { io, exitCode: EXIT.ok, pager, words: argv }
  const program = await makeProgram(runtime, words)
  try {
    if (words.length === 0) program.outputHelp()
    else await program.parseAsync(words, { from: 'user' })
    await pager.flush()
    return words.length === 0 ? EXIT.ok : runtime.exitCode
  } catch (error) {
    await pager.flush()
    if (error instanceof CommanderError && error.exitCode === 0) return EXIT.ok
    // A noun without a verb: its help has been printed on standard error.
    if (error instanceof CommanderError && error.code === 'commander.help') return EXIT.usage
    const told = error instanceof CommanderError ? await fromCommander(error, { program, words }) : error
    return reportError(io, told, { ...formOf(words, io), given: runtime.given })
  }
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
async function fromCommander(error: CommanderError, { program, words }: Typed): Promise<CliError> {
  const [message = '', ...rest] = error.message.replace(/^error: /, '').split('\n')
  const shown = error.code === 'commander.excessArguments' ? withMembers(words) : undefined
  if (shown !== undefined) return usageError(message, `svc ${shown.map((word) => quoted(word)).join(' ')}`)
  const wrong = /'([^']+)'/.exec(message)?.[1]
  const never = notCommand(`${commandWords({ program, words })}${wrong ?? ''}`)
  if (never !== undefined) return usageError(...never)
  const ours = withOurFlag(words, wrong)
  if (ours !== undefined) return usageError(message, ours)
  const meant = meantBy(wrong, { guess: guessIn(rest.join(' ')), program, words })
  if (meant === undefined || wrong === undefined)
    return usageError(message, `svc ${commandWords({ program, words })}--help`)
  // `disputes` asks to see some; `dispute` makes one.
  if (wrong === `${meant}s`) return usageError(message, listMeant({ program, words }, wrong))
  const mended = words.map((word) => (word === wrong ? meant : word))
  return usageError(message, `svc ${(await withNextWord(mended)).map((word) => typedAs(word)).join(' ')}`)
}

/** The words with the one behind `--json` as its member: a plain word there may as well be an argument, such as an id. */
function withMembers(words: readonly string[]): string[] | undefined {
  const at = words.indexOf('--json=')
  const member = words[at + 1] ?? ''
  if (at === -1 || !/^[a-z][a-z0-9]*$/.test(member)) return undefined
  return [...words.slice(0, at), `--json=${member}`, ...words.slice(at + 2)]
}

/** The same words with the one behind a mended noun mended too: a hint is a command that there is. */
async function withNextWord(words: readonly string[]): Promise<readonly string[]> {
  const root = await readMap()
  const flags = [...root.options]
  let map = root
  for (const [index, word] of words.entries()) {
    const before = flags.find(({ name, short }) => name === words[index - 1] || short === words[index - 1])
    if (word.startsWith('-') || before?.value === 'required') continue
    if (map.commands.length === 0) return words
    const child = map.commands.find(({ name, aliases }) => name === word || aliases.includes(word))
    const meant =
      child?.name ??
      nearestWord(
        word,
        map.commands.map(({ name }) => name),
      )
    // Nothing near: what there is stands in the help of the words before.
    if (meant === undefined) return [...words.slice(0, index), '--help']
    if (child === undefined) return withNextWord([...words.slice(0, index), meant, ...words.slice(index + 1)])
    map = child
    flags.push(...child.options)
  }
  return words
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
