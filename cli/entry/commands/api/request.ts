import { z } from 'zod'
import { usageError } from '../../../base/errors.ts'
import type { CliError } from '../../../base/errors.ts'

const OPEN: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics', '/openapi.json', '/postman.json'])

/**
 * The path of a request to the service, and nothing else: what proves the caller goes nowhere but there.
 * @throws {CliError} exit code 2 for another host, another place of the service, and what is no path
 */
export function apiPath(text: string): { pathname: string; search: URLSearchParams } {
  // A line break would end the request's own line, and a backslash is a slash to some.
  if (/[\s\\\p{Cc}]/u.test(text))
    throw usageError('a path has no blanks, line breaks or backslashes; encode them', 'svc help api')
  if (!text.startsWith('/') || text.startsWith('//') || !URL.canParse(`http://path${text}`)) throw noPath(text)
  const { host, pathname, searchParams, hash } = new URL(`http://path${text}`)
  if (host !== 'path' || hash !== '') throw noPath(text)
  // The URL has taken ".." out of it by now.
  if (!/^\/(api|open-banking)\//.test(pathname) && !OPEN.has(pathname))
    throw usageError(
      `${pathname} is none of the service's API: that is /api/…, /open-banking/…, ${[...OPEN].join(', ')}`,
      'svc api openapi -q paths',
    )
  return { pathname, search: searchParams }
}

function noPath(text: string): CliError {
  return usageError(
    `invalid path "${text}": use a path of the service, which begins with /`,
    'svc api GET /api/v1/payments',
  )
}

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const
const METHOD = z.enum(METHODS)
type Method = z.infer<typeof METHOD>

/** What the argument takes, in any case; the path may stand in its place. */
export const METHOD_SUMMARY = `${METHODS.join(', ')} (GET, or POST with a body)`

/** A path alone is read; with fields or a file it is posted to. @throws {CliError} exit code 2 */
export function askedBy(
  args: readonly string[],
  { field, bodyFile }: { field: readonly string[]; bodyFile?: string | undefined },
): { method: Method; path: string } {
  const [first = '', second] = args
  const { data: method } = METHOD.safeParse(first.toUpperCase())
  if (method === undefined && !/[/.]/.test(first))
    throw usageError(`method: "${first}" is none of ${METHODS.join(', ')}`, 'svc api GET <path>')
  if (method === undefined && second !== undefined)
    throw usageError('the method comes before the path', 'svc api GET <path>')
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
      throw usageError(`-f: invalid field "${text}": use name=value`, '-f currency=GBP, or -f count:=3 for JSON')
    const path = name.replaceAll('[]', '.[]').split('.')
    if (path.some((part, index) => part === '' || FORBIDDEN.has(part) || (part === '[]' && index < path.length - 1)))
      throw usageError(
        `-f: invalid name "${name}": use names with dots and []`,
        '-f metadata.order=17, or -f tags[]=first',
      )
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
