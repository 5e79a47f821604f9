import { z } from 'zod'
import { quoted } from '../../../base/command-hints.ts'
import { usageError } from '../../../base/errors.ts'
import type { CliError } from '../../../base/errors.ts'

export const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const
const METHOD = z.enum(METHODS)
type Method = z.infer<typeof METHOD>

/** What the argument takes, in any case; the path may stand in its place. */
export const METHOD_SUMMARY = `${METHODS.join(', ')} (GET, or POST with a body)`

const MEANT: Readonly<Record<string, string>> = { PATCH: 'PUT', HEAD: 'GET', OPTIONS: 'GET' }

function noMethod(method: string, message: string): CliError {
  return usageError(message, `svc api ${MEANT[method] ?? 'GET'} <path>${method === 'HEAD' ? ' --show-headers' : ''}`)
}

/** A path alone is asked for; with fields or a file it is told them. @throws {CliError} exit code 2 */
export function askedBy(
  args: readonly string[],
  { field, bodyFile }: { field: readonly string[]; bodyFile?: string | undefined },
): { method: Method; path: string } {
  const [first = '', second] = args
  const { data: method } = METHOD.safeParse(first.toUpperCase())
  if (method === undefined && !/[/.]/.test(first))
    throw noMethod(first.toUpperCase(), `method: "${first}" is none of ${METHODS.join(', ')}`)
  if (method === undefined && second !== undefined)
    throw usageError('the method comes before the path', `svc api ${second.toUpperCase()} ${quoted(first)}`)
  if (method === undefined) return { method: field.length > 0 || bodyFile !== undefined ? 'POST' : 'GET', path: first }
  if (second !== undefined) return { method, path: second }
  throw usageError(`${method} needs a path`, `svc api ${method} /api/v1/payments`)
}
