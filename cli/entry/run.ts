import { reportError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import type { ExitCode } from '../base/exit-codes.ts'
import { hasFlag, withoutDoubt } from '../base/flag-words.ts'
import type { Io } from '../base/io.ts'
import { surroundingsOf, formOf } from './environment.ts'
import { optionIn, placeOf } from './tree/place.ts'
import type { Place } from './tree/place.ts'

/** The word by which shells ask what could stand next on the command line. */
const COMPLETE_WORD = '__complete'

/**
 * Runs one command line and returns its exit code. All output goes through `io`; it never ends the process.
 * @param argv the words after `svc`
 */
export async function run(argv: readonly string[], given: Io): Promise<ExitCode> {
  // What is yet to be completed stays as it stands.
  if (argv[0] === COMPLETE_WORD) return runCompletion(argv.slice(1), given)
  const words = withoutDoubt(argv)
  try {
    const io = surroundingsOf(given, words)
    if (opensConsole(words, io)) return await (await import('./program.ts')).runConsole(io, words)
    if (isForFirstPage(words)) return await printFirstPage(io)
    const place = await placeOf(words)
    if (await isMistyped(words, place)) return await refuseCommand(io, words, place)
    return await (await import('./program.ts')).runProgram(io, words)
  } catch (error) {
    return reportError(given, error, formOf(words, given))
  }
}

async function runCompletion(words: readonly string[], io: Io): Promise<ExitCode> {
  const { complete } = await import('./completion/complete.ts')
  await complete(words, io)
  return EXIT.ok
}

/** The line that most people begin with costs nothing that it does not print. */
function isForFirstPage(words: readonly string[]): boolean {
  return words.every((word) => ['--help', '-h'].includes(word))
}

/**
 * A word that names no command needs no parser; one who asks for help, or types an unknown flag before it, gets that. The
 * help of an old command is its new name.
 */
async function isMistyped(words: readonly string[], place: Place): Promise<boolean> {
  if (place.unknown === undefined) return false
  if (['--help', '-h', '--version', '-V'].some((flag) => hasFlag(words, flag)))
    return (await import('./tree/wrong-words.ts')).isRenamed(words, place)
  const before = words.slice(0, place.at)
  return before.every((word) => !word.startsWith('-') || optionIn(place, word) !== undefined)
}

async function refuseCommand(io: Io, words: readonly string[], place: Place): Promise<ExitCode> {
  const { unknownCommand } = await import('./tree/wrong-words.ts')
  return reportError(io, await unknownCommand(words, place), formOf(words, io))
}

async function printFirstPage(io: Io): Promise<ExitCode> {
  const [{ makePager }, { firstPage, fitHelp }] = await Promise.all([
    import('../output/pager.ts'),
    import('./tree/help-text.ts'),
  ])
  const pager = makePager(io, true)
  pager.write(fitHelp(firstPage(io), io.stdout.isTTY ? io.stdout.columns : Infinity))
  await pager.flush()
  return EXIT.ok
}

/** Options that choose the service, the caller or the colours: with these alone `svc` still opens the console. */
const CONSOLE_FLAGS = /^(--(api-url|client-id|profile|env|state-dir|color)|-p)(=|$)/

/** Whether a command line without a command opens the console: at a terminal that can draw it, outside of scripts. */
function opensConsole(words: readonly string[], { stdin, stdout, env }: Io): boolean {
  const isScript = (env['CI'] ?? '') !== '' && env['CI'] !== 'false'
  return namesNoCommand(words) && stdin.isTTY && stdout.isTTY && env['TERM'] !== 'dumb' && !isScript
}

function namesNoCommand(words: readonly string[]): boolean {
  const [word, ...rest] = words
  if (word === undefined) return true
  return CONSOLE_FLAGS.test(word) && namesNoCommand(word.includes('=') ? rest : rest.slice(1))
}
