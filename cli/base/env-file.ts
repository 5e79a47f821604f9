import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseEnv } from 'node:util'
import { usageError, messageOf, codeOf } from './errors.ts'
import { valuesOfFlag } from './flag-words.ts'
import type { Io } from './io.ts'

const FILE_BYTES_MAX = 1024 * 1024

/**
 * The environment with what the files of `--env` add: the environment itself wins over them, and a later file over an
 * earlier one. No value in them is repeated, for it may be secret.
 * @param origins takes the file of each variable that comes from one
 * @throws {CliError} exit code 2, naming the file that can't be read
 */
export function withEnvFiles(
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
  words: readonly string[],
  origins: Map<string, string>,
): NodeJS.ProcessEnv {
  const files = valuesOfFlag(words, '--env')
  if (files.length === 0) return env
  const read = files.map((file) => {
    const values = parseEnv(textOf(resolve(cwd, file), file))
    for (const name of Object.keys(values)) if (env[name] === undefined) origins.set(name, file)
    return values
  })
  return { ...Object.assign({}, ...read), ...env }
}

function textOf(path: string, named: string): string {
  try {
    if (statSync(path).size > FILE_BYTES_MAX) throw new RangeError('it is larger than a mebibyte')
    return readFileSync(path, 'utf8')
  } catch (error) {
    const why = codeOf(error) === 'ENOENT' ? 'there is no such file' : messageOf(error)
    throw usageError(`--env: can't read ${named}: ${why}`, 'a file with lines such as SVC_API_URL=https://…')
  }
}
