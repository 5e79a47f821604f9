import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { CliError, messageOf } from '../base/errors.ts'
import type { Context } from './context.ts'

/** The service refuses more; a file beyond it is not even read. */
const FILE_BYTES_MAX = 10 * 1024 * 1024

export async function readBankFile({ io }: Context, file: string): Promise<string> {
  const path = resolve(io.cwd, file)
  try {
    const { size } = await stat(path)
    if (size > FILE_BYTES_MAX)
      throw new Error(`it has ${size} bytes, and at most ${FILE_BYTES_MAX} are imported at once`)
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path))
  } catch (cause) {
    const why = messageOf(cause)
    throw new CliError('USAGE', `can't read ${file} as text (${why})`, { cause })
  }
}
