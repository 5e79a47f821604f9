import { withEnvFiles } from '../base/env-file.ts'
import { isYes } from '../base/environment-variables.ts'
import { usageError } from '../base/errors.ts'
import { hasFlag } from '../base/flag-words.ts'
import type { Io, ColorFlag } from '../base/io.ts'
import { isJson } from '../base/output-modes.ts'
import { withConfigFile } from '../client/auth/config-settings.ts'

/**
 * What a command line runs in: the environment with the files of `--env` and the user's configuration file below it,
 * and with `--no-input` no user to ask.
 * @throws {CliError} exit code 2 for a file that can't be used
 */
export function surroundingsOf(io: Io, words: readonly string[]): Io {
  const origins = new Map<string, string>()
  const named = withEnvFiles(io, words, origins)
  const env = isForHelp(words) ? orAsItIs(named) : withConfigFile(named, origins)
  if (hasFlag(words, '--no-input')) origins.set('SVC_NO_INPUT', '--no-input')
  const settled = { ...io, env, origins }
  return hasFlag(words, '--no-input') || isYes(env['SVC_NO_INPUT']) ? withoutInput(settled) : settled
}

/** Help is readable with a mistake in a file, which it says how to repair. */
function orAsItIs(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  try {
    return withConfigFile(env, new Map())
  } catch {
    return env
  }
}

function isForHelp(words: readonly string[]): boolean {
  return words.length === 0 || words[0] === 'help' || ['--help', '-h'].some((flag) => hasFlag(words, flag))
}

/**
 * As without a terminal to ask at, which every question has its error for; editors and browsers look here, too. What is
 * piped in is read as ever, for that asks no question.
 */
function withoutInput(io: Io): Io {
  const { stdin } = io
  const chunks = (): never => {
    throw usageError('this reads from the keyboard, which --no-input rules out', 'the same in a pipe: … < file')
  }
  const refuse = async (): Promise<never> => chunks()
  return {
    ...io,
    env: { ...io.env, SVC_NO_INPUT: '1' },
    stdin: stdin.isTTY ? { isTTY: false, read: refuse, chunks, readLine: refuse } : stdin,
  }
}

/** How errors are printed, known even when the command line could not be parsed. */
export function formOf(words: readonly string[], io: Io): { json: boolean; color: ColorFlag } {
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
