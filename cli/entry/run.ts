import { COMPLETE_WORD, runEarly } from './fast-path.ts'
import { reportError } from '../base/errors.ts'
import type { ExitCode } from '../base/exit-codes.ts'
import { withoutDoubt } from '../base/flag-words.ts'
import type { Io } from '../base/io.ts'
import { surroundingsOf } from './environment.ts'
import { formOf } from './error-format.ts'

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
    return (await runEarly(words, io)) ?? (await runLine(io, words))
  } catch (error) {
    return reportError(given, error, formOf(words, given))
  }
}

async function runLine(io: Io, words: readonly string[]): Promise<ExitCode> {
  // Completion and the map need nothing of it.
  const { runConsole, runProgram } = await import('./run-program.ts')
  return opensConsole(words, io) ? runConsole(io, words) : runProgram(io, words)
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
