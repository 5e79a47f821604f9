import { parsePath, valueAt } from '../../output/path.ts'

/** `$name`, `$name.path`, `${name.path}`, and `$$` for a dollar sign. A dollar before anything else is itself. */
const REFERENCE = /\$(?:(\$)|\{([A-Za-z_]\w*(?:\.\w+|\[\d+\])*)\}|([A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d+\])*))/g

export type Reference = {
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

/** A reference that nothing can be put in the place of. */
export type Unresolved = { text: string; name: string; why: 'name' | 'member'; at: readonly (string | number)[] }

export type ResolveOptions = {
  /** Whether nothing is resolved after this: only then `$$` becomes a dollar sign. */
  last: boolean
  /** Called with a reference without a value, which is then left as it is. */
  missing?: (unresolved: Unresolved) => void
}

/**
 * Replaces references in all strings of a value. A string that is nothing but a reference becomes the value with its
 * type. References without a value are left as they are.
 */
export function resolveReferences(
  value: unknown,
  lookup: Lookup,
  options: ResolveOptions,
  at: readonly (string | number)[] = [],
): unknown {
  if (typeof value === 'string') return resolveText(value, lookup, { ...options, at })
  if (Array.isArray(value)) return value.map((item, index) => resolveReferences(item, lookup, options, [...at, index]))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, resolveReferences(item, lookup, options, [...at, key])]),
  )
}

function resolveText(
  text: string,
  lookup: Lookup,
  { last, missing, at }: ResolveOptions & { at: readonly (string | number)[] },
): unknown {
  function valueOf(written: string, name: string, path: string): unknown {
    const found = lookup(name)
    const value = found === undefined ? undefined : memberAt(found.value, path)
    if (value === undefined) missing?.({ text: written, name, why: found === undefined ? 'name' : 'member', at })
    return value
  }
  const [only] = referencesIn(text)
  if (only?.isWhole === true) {
    const value = valueOf(text, only.name, only.path)
    return value === undefined ? text : value
  }
  return text.replaceAll(
    REFERENCE,
    (written, dollar: string | undefined, braced: string | undefined, bare: string | undefined) => {
      if (dollar !== undefined) return last ? '$' : written
      const inner = braced ?? bare ?? ''
      const name = /^\w+/.exec(inner)?.[0] ?? ''
      const value = valueOf(written, name, inner.slice(name.length))
      return value === undefined ? written : textOf(value)
    },
  )
}

function memberAt(value: unknown, path: string): unknown {
  return path === '' ? value : valueAt(value, parsePath(path))
}

function textOf(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}

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
