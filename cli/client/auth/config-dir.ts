import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { CliError, messageOf, codeOf } from '../../base/errors.ts'

/** Where the command line keeps its profiles and sessions: SVC_CONFIG_DIR, else the user's own place for such. Absolute. */
export function configDirOf(env: NodeJS.ProcessEnv): string {
  const own = env['SVC_CONFIG_DIR'] ?? ''
  if (own !== '') return resolve(own)
  const xdg = env['XDG_CONFIG_HOME'] ?? ''
  return xdg === '' ? join(env['HOME'] || homedir(), '.config', 'svc') : join(xdg, 'svc')
}

export function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw unusable(file, error)
  }
}

/** Writes a file in one step, readable by its owner alone: a reader sees all of it or none. */
export function writeOwnFile(file: string, text: string): void {
  const draft = join(dirname(file), `.${crypto.randomUUID()}`)
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' })
    renameSync(draft, file)
  } catch (error) {
    rmSync(draft, { force: true })
    throw unusable(file, error)
  }
}

export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(codeOf(error))
}

export function unusable(file: string, error: unknown): CliError {
  return new CliError('CONFIG_UNUSABLE', `${file} can't be used: ${messageOf(error)}`, {
    hint: 'another directory is SVC_CONFIG_DIR=<directory>',
    cause: error,
  })
}
