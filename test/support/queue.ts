import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/*
 * The test files of a run and who has taken them, in a folder that the processes of the run share (take-files.ts).
 */
const offered = (folder: string): string => join(folder, 'files.json')
const takenMark = (folder: string, index: number): string => join(folder, `taken-${index}`)
const endedMark = (folder: string, index: number): string => join(folder, `ended-${index}`)

/** Offers files, named from the package's root: they are taken in this order. */
export function offerFiles(folder: string, files: readonly string[]): void {
  writeFileSync(offered(folder), JSON.stringify(files))
}

export const offeredFiles = (folder: string): string[] => JSON.parse(readFileSync(offered(folder), 'utf8'))

/** Takes the file with this number, if no process has. */
export function takeFile(folder: string, index: number): boolean {
  try {
    mkdirSync(takenMark(folder, index))
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

export function markEnded(folder: string, index: number): void {
  mkdirSync(endedMark(folder, index))
}

/** The files that no process has run to their end. */
export const forgottenFiles = (folder: string): string[] =>
  offeredFiles(folder).filter((_, index) => !existsSync(endedMark(folder, index)))
