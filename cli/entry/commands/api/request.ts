import { z } from 'zod'
import { quoted } from '../../../base/command-hints.ts'
import { CliError, usageError } from '../../../base/errors.ts'
import { EXIT } from '../../../base/exit-codes.ts'
import { methodsOf } from './operations.ts'

const OPEN: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics', '/openapi.json'])

type ApiPath = { pathname: string; search: URLSearchParams }

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

type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

type Field = { path: readonly string[]; value: Json }

const FIELD = /^(?<name>[^=:]+?)(?<raw>:)?=(?<value>[^]*)$/
/** Names by which an object would change what objects are. */
const FORBIDDEN: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

/**
 * Reads `-f` fields: `name=text`, `name:=json`, `a.b=text` for a member of a member, `tags[]=text` for one more of a list.
 * @throws {CliError} exit code 2
 */
export function readFields(texts: readonly string[]): Field[] {
  return texts.map((text) => {
    const { name, raw, value = '' } = FIELD.exec(text)?.groups ?? {}
    if (name === undefined)
      throw usageError(`-f: "${text}" is no name=value`, '-f currency=GBP, or -f count:=3 for JSON')
    const path = name.replaceAll('[]', '.[]').split('.')
    if (path.some((part, index) => part === '' || FORBIDDEN.has(part) || (part === '[]' && index < path.length - 1)))
      throw usageError(`-f: "${name}" is no name`, '-f metadata.order=17, or -f tags[]=first')
    return { path, value: raw === undefined ? value : jsonOf(name, value) }
  })
}

function jsonOf(name: string, text: string): Json {
  try {
    return JSON.parse(text)
  } catch {
    throw usageError(`-f: ${name}:= is followed by JSON, and "${text}" is none`, `-f ${name}=${text} for a text`)
  }
}

/** The JSON object that fields describe. */
export function bodyOf(fields: readonly Field[]): { [name: string]: Json } {
  const body: { [name: string]: Json } = {}
  for (const { path, value } of fields) put(body, path, value)
  return body
}

function put(into: { [name: string]: Json }, [name = '', ...rest]: readonly string[], value: Json): void {
  const there = into[name]
  if (rest.length === 0) {
    if (there !== undefined) throw usageError(`-f: ${name} is given twice`)
    into[name] = value
    return
  }
  if (rest[0] === '[]') {
    if (there !== undefined && !Array.isArray(there)) throw usageError(`-f: ${name} is given twice`)
    into[name] = [...(there ?? []), value]
    return
  }
  if (there !== undefined && (typeof there !== 'object' || there === null || Array.isArray(there)))
    throw usageError(`-f: ${name} is given twice`)
  const below = there ?? {}
  into[name] = below
  put(below, rest, value)
}

/** Fields of a request that has no body stand in its query. */
export function addToQuery(query: URLSearchParams, fields: readonly Field[]): void {
  for (const { path, value } of fields)
    query.append(
      path.filter((part) => part !== '[]').join('.'),
      typeof value === 'string' ? value : JSON.stringify(value),
    )
}

const HEADER = /^(?<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(?<value>[\t\x20-\x7e\x80-\xff]*)$/
/** What says where a request goes and how long it is: ours alone. */
const OURS: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'upgrade',
  'te',
])

/**
 * Reads `-H` headers, by their lower-case names.
 * @throws {CliError} exit code 2 for a line break in one, and for headers that the request itself has
 */
export function readHeaders(texts: readonly string[]): Record<string, string> {
  const entries = texts.map((text): [string, string] => {
    const { name, value = '' } = HEADER.exec(text)?.groups ?? {}
    if (name === undefined) throw usageError('-H: a header is name:value, in one line', '-H accept:text/csv')
    if (OURS.has(name.toLowerCase())) throw usageError(`-H: ${name} is made by svc`)
    return [name.toLowerCase(), value.trimEnd()]
  })
  return Object.fromEntries(entries)
}
