import { closeSync, existsSync, fstatSync, mkdirSync, openSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { usageError } from '../../base/errors.ts'

/** A report's file, open before the run. */
export type ReportFile = {
  path: string
  /** Which file it is, whatever name led to it. */
  identity: string
  /** Writes all of it, and closes it. */
  finish(text: string): void
}

/**
 * Opens a report's file, and makes its folder, so that a path that can't be written is told before anything is played.
 * @throws {CliError} with exit code 2, naming the path
 */
export function openReportFile(path: string): ReportFile {
  try {
    makeFolder(dirname(path))
    const descriptor = openSync(path, 'w')
    const { dev, ino } = fstatSync(descriptor)
    return {
      path,
      identity: `${dev}:${ino}`,
      finish(text) {
        writeFileSync(descriptor, text)
        closeSync(descriptor)
      },
    }
  } catch (error) {
    throw usageError(`--reporter: can't write ${path}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** One by one: mkdir's own `recursive` tries for ever where a file system answers ENOENT to every attempt, as /proc does. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder)
  } catch (error) {
    // Another run may have made it in the meantime.
    if (!existsSync(folder)) throw error
  }
}
