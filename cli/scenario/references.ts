import { parsePath, valueAt } from '../path.ts'

/** `$name`, `$name.path`, `${name.path}`, and `$$` for a dollar sign. A dollar before anything else is itself. */
const REFERENCE = /\$(?:(\$)|\{([A-Za-z_]\w*(?:\.\w+|\[\d+\])*)\}|([A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d+\])*))/g

export type Reference = {
  /** As it is written. */
  text: string
  name: string
  /** What follows the name: `.payment_id`; empty for the whole. */
  path: string
  /** Whether it is all of the text, and so keeps its type. */
  isWhole: boolean
}

export function referencesIn(text: string): Reference[] {
  return Array.from(text.matchAll(REFERENCE)).flatMap((match) => {
    const inner = match[2] ?? match[3]
    if (inner === undefined) return []
    const name = /^\w+/.exec(inner)?.[0] ?? ''
    return [{ text: match[0], name, path: inner.slice(name.length), isWhole: match[0] === text }]
  })
}

/** Looks a name up: `{ value }`, or undefined for a name it does not know. */
export type Lookup = (name: string) => { value: unknown } | undefined

/**
 * Replaces references in all strings of a value. A string that is nothing but a reference becomes the value with its
 * type. Names that the look-up does not know are left as they are, and so is the escape `$$` unless `last`.
 */
export function resolveReferences(value: unknown, lookup: Lookup, { last }: { last: boolean }): unknown {
  if (typeof value === 'string') return resolveText(value, lookup, last)
  if (Array.isArray(value)) return value.map((item) => resolveReferences(item, lookup, { last }))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, resolveReferences(item, lookup, { last })]),
  )
}

function resolveText(text: string, lookup: Lookup, last: boolean): unknown {
  const [only] = referencesIn(text)
  if (only?.isWhole === true) {
    const found = lookup(only.name)
    return found === undefined ? text : memberAt(found.value, only.path)
  }
  return text.replaceAll(
    REFERENCE,
    (written, dollar: string | undefined, braced: string | undefined, bare: string | undefined) => {
      if (dollar !== undefined) return last ? '$' : written
      const inner = braced ?? bare ?? ''
      const name = /^\w+/.exec(inner)?.[0] ?? ''
      const found = lookup(name)
      return found === undefined ? written : textOf(memberAt(found.value, inner.slice(name.length)))
    },
  )
}

function memberAt(value: unknown, path: string): unknown {
  return path === '' ? value : valueAt(value, parsePath(path))
}

function textOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}

/** All strings of a value with the way to each. */
export function* stringsOf(
  value: unknown,
  path: readonly (string | number)[] = [],
): Generator<{ text: string; path: readonly (string | number)[] }> {
  if (typeof value === 'string') yield { text: value, path }
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* stringsOf(item, [...path, index])
  else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) yield* stringsOf(item, [...path, key])
  }
}
