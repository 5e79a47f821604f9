import { readdirSync, statSync } from 'node:fs'
import type { Dirent } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isFolder, isScenarioFile } from './find-files.ts'

/** Files are looked at, and not listened to: a file that is replaced as a whole is another one to who listens. */
const LOOK_MS = 250

export type Changes = {
  /** Looks at these files as well: those whose steps others use may be anywhere. */
  also(paths: readonly string[]): void
  /** Resolves once something has changed since the last time and nothing changes any more, or when the signal ends it. */
  next(signal: AbortSignal): Promise<void>
}

/** Watches the scenario files in the folders that the words mean, and the files that were read; what the run itself writes there is no change. */
export function watchFiles(
  words: readonly string[],
  { cwd, paths, reports }: { cwd: string; paths: readonly string[]; reports: ReadonlySet<string> },
): Changes {
  const folders = words.map((word) => resolve(cwd, word)).filter(isFolder)
  const files = new Set(paths)
  const look = (): string =>
    [...files, ...folders.flatMap(filesBelow).filter((path) => !reports.has(path))].map(stampOf).join('\n')
  let known = look()
  return {
    also(more) {
      if (more.every((path) => files.has(path))) return
      const isAsKnown = look() === known
      for (const path of more) files.add(path)
      if (isAsKnown) known = look()
    },
    async next(signal) {
      let before = known
      for (let now = look(); !signal.aborted; now = look()) {
        // Editors write a file in several goes: two looks in a row have to be alike.
        if (now !== known && now === before) {
          known = now
          return
        }
        before = now
        await delay(LOOK_MS, undefined, { signal }).catch(() => undefined)
      }
    },
  }
}

function filesBelow(folder: string): string[] {
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesBelow(path)
    return isScenarioFile(entry.name) ? [path] : []
  })
}

/** A folder that goes away is told when its files are read again. */
function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

function stampOf(path: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(path)
    return [path, ino, size, mtimeMs, ctimeMs].join(' ')
  } catch {
    return path
  }
}
