import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { usageError } from '../base/errors.ts'
import type { Io } from '../base/io.ts'
import { STDOUT } from '../output/target-file.ts'

export const NEW_EXPORT = 'svc audit export --file audit.jsonl'

/**
 * The lines of a file, or of standard input for `-`. They end at a line feed alone: node:readline would end them at U+2028
 * as well, which JSON may hold as it is.
 * @throws {CliError} exit code 2 where it can't be read
 */
export async function* linesOf(io: Pick<Io, 'cwd' | 'stdin'>, file: string): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunksOf(io, file)) {
    const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  yield rest
}

async function* chunksOf({ cwd, stdin }: Pick<Io, 'cwd' | 'stdin'>, file: string): AsyncGenerator<Uint8Array> {
  if (file === STDOUT && stdin.isTTY)
    throw usageError(
      '--file: - is standard input, and nothing is piped into it',
      'svc audit export | svc audit verify --file -',
    )
  try {
    yield* file === STDOUT ? stdin.chunks() : createReadStream(resolve(cwd, file))
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    throw usageError(`--file: can't read ${file} (${why})`, NEW_EXPORT)
  }
}
