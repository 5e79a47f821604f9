import { isUuid } from '../src/lib/ids.ts'
import { CliError, usageError } from './errors.ts'
import { EXIT } from './exit-codes.ts'

const PREFIX_MIN = 8
const SHOWN_MAX = 5

/**
 * The id that the user means: a whole one as it is, or the one that begins with a prefix of 8 characters or more.
 * @param candidates asked for only when the text is a prefix; the newest ids first
 * @throws {CliError} when nothing, or more than one thing, begins like it
 */
export async function resolveId(text: string, noun: string, candidates: () => AsyncIterable<string>): Promise<string> {
  if (isUuid(text)) return text.toLowerCase()
  const prefix = text.toLowerCase()
  if (!/^[0-9a-f-]+$/.test(prefix) || prefix.length > 36) throw notFound(text, noun)
  if (prefix.length < PREFIX_MIN)
    throw usageError(`"${text}" is too short for an id: give ${PREFIX_MIN} characters or more`)
  const found: string[] = []
  for await (const id of candidates()) {
    if (id.startsWith(prefix)) found.push(id)
    if (found.length > SHOWN_MAX) break
  }
  const [only] = found
  if (only === undefined) throw notFound(text, noun)
  if (found.length > 1)
    throw usageError(`"${text}" is the beginning of several: ${found.join(', ')}`, 'more characters of the id')
  return only
}

function notFound(text: string, noun: string): CliError {
  return new CliError('NOT_FOUND', `there is no ${noun} "${text}"`, {
    exit: EXIT.notFound,
    hint: `svc ${noun === 'payment' ? 'payments' : 'webhooks'} list`,
  })
}
