import { CliError, usageError } from '../../../base/errors.ts'
import { EXIT } from '../../../base/exit-codes.ts'
import { methodsOf } from './operations.ts'

const OPEN: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics', '/openapi.json'])

export type ApiPath = { pathname: string; search: URLSearchParams }

/**
 * The path of a request to the service, and nothing else: what proves the caller goes nowhere but there. A whole address
 * is taken where it is the service's own.
 * @throws {CliError} exit code 2 for another host, another place of the service, and what is no path
 */
export function apiPath(text: string, apiUrl: string): ApiPath {
  // A line break would end the request's own line, and a backslash is a slash to some.
  if (/[\s\\\p{Cc}]/u.test(text))
    throw usageError('a path has no blanks, line breaks or backslashes; encode them', 'svc help api')
  const path = withoutService(text, apiUrl)
  if (!path.startsWith('/') || path.startsWith('//') || !URL.canParse(`http://path${path}`)) throw noPath(text)
  const { host, pathname, searchParams, hash } = new URL(`http://path${path}`)
  if (host !== 'path' || hash !== '') throw noPath(text)
  // The URL has taken ".." out of it by now.
  if (!/^\/(api|open-banking)\//.test(pathname) && !OPEN.has(pathname))
    throw usageError(
      `${pathname} is none of the service's API: that is /api/…, /open-banking/…, ${[...OPEN].join(', ')}`,
      `svc api ${wholePath(pathname)}`,
    )
  return { pathname, search: searchParams }
}

const PREFIXES = ['/api/v1', '/open-banking/v1', '/api/v1/portal', '/api/v1/admin']

/** The path that was meant where only its beginning was left out. */
function wholePath(pathname: string): string {
  const wholes = PREFIXES.map((prefix) => `${prefix}${pathname}`)
  const whole = wholes.find((path) => methodsOf(path).length > 0)
  return whole ?? 'GET /api/v1/payments'
}

function withoutService(text: string, apiUrl: string): string {
  if (!/^[a-z][a-z0-9+.-]*:/i.test(text)) return text
  if (text.startsWith(`${apiUrl}/`)) return text.slice(apiUrl.length)
  throw new CliError('USAGE', `only ${apiUrl} is asked, and nothing of another host`, {
    exit: EXIT.usage,
    hint: 'the path alone, such as /api/v1/payments; another service is --api-url <url>',
  })
}

function noPath(text: string): CliError {
  const whole = `/${text.replace(/^\/+/, '')}`
  // Only the slash was forgotten.
  const meant = /^\/(api|open-banking)\/[\w/.-]+$/.test(whole) ? whole : '/api/v1/payments'
  return usageError(`"${text}" is no path of the service: it begins with /`, `svc api GET ${meant}`)
}
