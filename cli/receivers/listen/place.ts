import { usageError } from '../../base/errors.ts'

const TIME = /^(-?\d+(ms|s|m|h|d)|\d{4}-\d{2}-\d{2}.*)$/

/**
 * A place of the feed to begin at: a word for one, or a cursor. Elsewhere --since is a time, which the feed has none of.
 * @param words such as latest
 * @throws {CliError} exit code 2
 */
export function checkedPlace(text: string, words: readonly string[]): string {
  const said = `${words.join(', ')}, or a cursor of the feed`
  if (text === '') throw usageError(`--since: say ${said}`, '--since latest')
  if (TIME.test(text))
    throw usageError(
      `--since: "${text}" is a time; here it is ${said}, as the end of a run says it`,
      `payments since then: svc payments list --since ${text}\nas an operator: svc merchants payments --since ${text}`,
    )
  return text
}
