import { EXIT } from '../base/exit-codes.ts'
import type { ExitCode } from '../base/exit-codes.ts'
import type { Io } from '../base/io.ts'
import { findInMap, mapText, takeMap } from './tree/map.ts'
import { readMap } from './tree/map-file.ts'

/** The word by which shells ask what could stand next on the command line. */
export const COMPLETE_WORD = '__complete'

/**
 * What is answered from the map of commands, before any command is loaded: `--map` and completion.
 * @returns undefined where it is neither
 * @throws {CliError} exit code 2 where the form of the map, or the command, is none
 */
export async function runEarly(words: readonly string[], io: Io): Promise<ExitCode | undefined> {
  if (words[0] === COMPLETE_WORD) {
    const { complete } = await import('./completion/complete.ts')
    await complete(words.slice(1), io)
    return EXIT.ok
  }
  const asked = takeMap(words)
  if (asked === undefined) return undefined
  const found = findInMap(await readMap(), asked.rest)
  io.stdout.write(`${mapText(found, asked.form, io.stdout.isTTY ? 2 : 0)}\n`)
  return EXIT.ok
}
