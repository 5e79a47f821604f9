import { randomUUID } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import type { Client } from '../client/call.ts'
import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { stoppable } from '../client/interruptible.ts'
import type { Target } from '../output/target-file.ts'

export type Write = (text: string) => Promise<void>

/**
 * Writes what an export is: only a whole one takes the file's name, once it is on the disk and readable by its owner alone.
 * One that fails, or is interrupted, leaves what was there as it was, and nothing beside it.
 * @throws {CliError} FILE_NOT_WRITTEN, exit code 1, or 2 where it can't be begun; INTERRUPTED; and whatever `fill` throws
 */
export async function writeTarget<T>(
  target: Target,
  client: Client,
  fill: (write: Write, client: Client) => Promise<T>,
): Promise<T> {
  // Nothing is left of a stream, so a signal ends the process itself: whoever waits for a reader would not hear of it.
  if (target.isStream) return intoStream(target, (write) => fill(write, client))
  return stoppable(client, (stopped) => intoFile(target, (write) => fill(write, stopped)))
}

async function intoFile<T>(target: Target, fill: (write: Write) => Promise<T>): Promise<T> {
  const { path } = target
  const draft = `${path}.${randomUUID()}`
  const file = await opened(target, open(draft, 'wx', 0o600))
  try {
    const result = await fill(writerOf(target, file))
    await orRefuse(target, EXIT.failure, file.sync())
    await orRefuse(target, EXIT.failure, rename(draft, path))
    return result
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  } finally {
    await file.close()
  }
}

async function intoStream<T>(target: Target, fill: (write: Write) => Promise<T>): Promise<T> {
  const file = await opened(target, open(target.path, 'w'))
  try {
    return await fill(writerOf(target, file))
  } finally {
    await file.close()
  }
}

function opened(target: Target, file: Promise<FileHandle>): Promise<FileHandle> {
  return orRefuse(target, EXIT.usage, file)
}

function writerOf(target: Target, file: FileHandle): Write {
  return (text) => orRefuse(target, EXIT.failure, file.writeFile(text))
}

async function orRefuse<T>(
  { named }: Target,
  exit: typeof EXIT.usage | typeof EXIT.failure,
  work: Promise<T>,
): Promise<T> {
  try {
    return await work
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new CliError('FILE_NOT_WRITTEN', `--file: can't write ${named}: ${why}`, { exit, cause })
  }
}
