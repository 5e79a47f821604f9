import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const PRELOADED = pathToFileURL(join(import.meta.dirname, 'clock.js')).href

export type Clock = {
  /** For a process whose clock this is. */
  env: Record<string, string>
  shift(ms: number): void
}

/** The clock of one process; PostgreSQL's stays right. */
export function makeClock(file: string): Clock {
  const shift = (ms: number): void => {
    writeFileSync(`${file}.new`, String(ms))
    renameSync(`${file}.new`, file)
  }
  shift(0)
  return { env: { NODE_OPTIONS: `--import=${PRELOADED}`, SVC_CHAOS_CLOCK: file }, shift }
}
