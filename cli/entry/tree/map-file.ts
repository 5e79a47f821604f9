import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CommandMap } from './map.ts'

/** The map that the build wrote beside this file; where there is none, in a checkout, one of the commands themselves. */
export async function readMap(): Promise<CommandMap> {
  try {
    // Written by the same build.
    return JSON.parse(readFileSync(join(import.meta.dirname, 'map.json'), 'utf8')) as CommandMap
  } catch {
    return (await import('./write-map.ts')).wholeMap()
  }
}
