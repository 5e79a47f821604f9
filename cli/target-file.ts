import { lstatSync, statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { CliError } from './errors.ts'
import { EXIT } from './exit-codes.ts'

/**
 * The absolute path of the file that an export is to make. Looked at before anything is asked of the service: what is
 * there already may be last month's, and is only replaced where that is said.
 * @param path as `--file` has it
 * @throws {CliError} exit code 2 when there is something of that name, or no folder for it
 */
export function targetFile(cwd: string, path: string, { force }: { force: boolean }): string {
  const file = resolve(cwd, path)
  const folder = dirname(file)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new CliError('FILE_NOT_WRITTEN', `--file: there is no folder ${folder}`, {
      exit: EXIT.usage,
      hint: `mkdir -p ${folder}`,
    })
  const there = lstatSync(file, { throwIfNoEntry: false })
  if (there?.isDirectory() === true)
    throw new CliError('FILE_NOT_WRITTEN', `--file: ${path} is a folder`, { exit: EXIT.usage })
  if (there !== undefined && !force)
    throw new CliError('FILE_EXISTS', `--file: ${path} is there already`, {
      exit: EXIT.usage,
      hint: 'another name, or --force to replace it',
    })
  return file
}
