import { randomUUID } from 'node:crypto'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { usageError } from '../../base/errors.ts'

/** Removes what an earlier run left, which would tell a script that this one is ready. Returns the absolute path. */
export function clearReadyFile(cwd: string, path: string): string {
  const file = resolve(cwd, path)
  orUsage(path, () => rmSync(file, { force: true }))
  return file
}

/** Writes the file in one step: whoever sees it sees all of it. */
export function writeReadyFile(file: string, facts: Readonly<Record<string, unknown>>): void {
  const draft = `${file}.${randomUUID()}`
  orUsage(file, () => {
    writeFileSync(draft, `${JSON.stringify(facts)}\n`, { flag: 'wx' })
    renameSync(draft, file)
  })
}

function orUsage(path: string, act: () => void): void {
  try {
    act()
  } catch (error) {
    throw usageError(`--ready-file: can't write ${path} (${error instanceof Error ? error.message : String(error)})`)
  }
}
