import { lstatSync, realpathSync, statSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'

export type Target = {
  named: string
  /** The absolute path; where a link was named, of what it leads to. */
  path: string
  /** Whether it takes what is written and keeps no file, such as a pipe: it is written to as it is, and never replaced. */
  isStream: boolean
}

/** The name of standard output, and of standard input, where a file is asked for. */
export const STDOUT = '-'
/** What else is called so: it is written to, and never replaced by a file. */
const STDOUTS: ReadonlySet<string> = new Set([STDOUT, '/dev/stdout', '/dev/fd/1'])

/**
 * What an export is to be written to; undefined is standard output. Looked at before anything is asked of the service: what
 * is there already may be last month's, and is only replaced where that is said.
 * @param named as `--file` has it
 * @throws {CliError} exit code 2 when there is something of that name, or no folder for it
 */
export function targetFile(cwd: string, named: string | undefined, { force }: { force: boolean }): Target | undefined {
  if (named === undefined || STDOUTS.has(named)) return undefined
  const path = resolve(cwd, named)
  const folder = dirname(path)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw refused(`there is no folder ${folder}`, `mkdir -p ${folder}`)
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return { named, path, isStream: false }
  const there = statSync(path, { throwIfNoEntry: false })
  if (there === undefined)
    throw refused(`${named} is a link to nothing`, 'another name, or what it is to lead to first')
  if (there.isDirectory()) throw refused(`${named} is a folder`)
  if (isStream(there)) return { named, path, isStream: true }
  if (!there.isFile()) throw refused(`${named} is not a file or a pipe`)
  if (!force)
    throw new CliError('FILE_EXISTS', `--file: ${named} is there already`, {
      hint: 'another name, or --force to replace it',
    })
  return { named, path: realpathSync(path), isStream: false }
}

/** A disk takes what is written too, and would be ruined. */
function isStream(there: Stats): boolean {
  return there.isFIFO() || there.isCharacterDevice()
}

function refused(why: string, hint?: string): CliError {
  return new CliError('FILE_NOT_WRITTEN', `--file: ${why}`, { exit: EXIT.usage, hint })
}
