import { usageError } from '../../../base/errors.ts'

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

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
