import { usageError } from '../../base/errors.ts'

/**
 * A place of the feed to begin at: a word for one, or a cursor, which the service checks.
 * @param words such as latest
 * @throws {CliError} exit code 2
 */
export function checkPlace(text: string, words: readonly string[]): void {
  if (text === '') throw usageError(`--cursor: say ${words.join(', ')}, or a cursor of the feed`, '--cursor latest')
}
