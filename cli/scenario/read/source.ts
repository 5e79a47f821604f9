import { LineCounter, isAlias, isCollection, isMap, isNode, isScalar, isSeq } from 'yaml'
import type { Document, Node } from 'yaml'

/** Where something stands in a document: the keys and indexes that lead there. */
export type Path = readonly (string | number)[]

/** Lines and columns count from 1, as editors do. `length` is how much of the line is meant. */
export type Place = { file: string; line: number; column: number; length: number }

/** A file with what is needed to point into it. */
export type Source = { file: string; lines: readonly string[]; counter: LineCounter }

/** Something wrong in a file. `hint` says how it should be written. */
export type Mistake = { place: Place; excerpt: string[] } & Wrong
type Wrong = { message: string; hint?: string | undefined }

export function makeSource(file: string, text: string): Source {
  return { file, lines: text.split(/\r?\n/), counter: new LineCounter() }
}

export function placeOf(source: Source, [start, end]: readonly [number, number]): Place {
  const from = source.counter.linePos(start)
  const to = source.counter.linePos(Math.max(start, end))
  const line = Math.max(1, from.line)
  const column = Math.max(1, from.col)
  const toEndOfLine = (source.lines[line - 1]?.trimEnd().length ?? 0) - column + 1
  const length = to.line === from.line ? to.col - from.col : toEndOfLine
  return { file: source.file, line, column, length: Math.max(1, length) }
}

/**
 * The place of a path's key or value. Where the path leads nowhere, the last thing on the way that exists, so that a
 * missing field points at what should have it.
 */
export function locate(source: Source, document: Document, path: Path, what: 'key' | 'value'): Place {
  let node: unknown = document.contents
  let range = rangeOf(node) ?? [0, 0]
  for (const [depth, step] of path.entries()) {
    const holder: unknown = isAlias(node) ? node.resolve(document) : node
    const found = isMap(holder)
      ? memberOf(holder.items, step)
      : isSeq(holder)
        ? { key: undefined, value: holder.items[Number(step)] }
        : undefined
    if (found === undefined) break
    node = found.value
    const wantsKey = what === 'key' && depth === path.length - 1
    range = (wantsKey ? rangeOf(found.key) : undefined) ?? rangeOf(node) ?? rangeOf(found.key) ?? range
  }
  return placeOf(source, range)
}

function memberOf(
  items: readonly { key: unknown; value: unknown }[],
  step: string | number,
): { key: unknown; value: unknown } | undefined {
  return items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
}

/** A collection is pointed at by its first character: many underlined lines are of no help. */
function rangeOf(node: unknown): [number, number] | undefined {
  if (!isNode(node)) return undefined
  const { range }: Node = node
  if (range === null || range === undefined || range[0] === range[1]) return undefined
  return isCollection(node) ? [range[0], range[0] + 1] : [range[0], range[1]]
}

export function makeMistake(source: Source, place: Place, { message, hint }: Wrong): Mistake {
  return { place, message, hint, excerpt: excerptOf(source, place) }
}

export function placeText({ place: { file, line, column } }: Pick<Mistake, 'place'>): string {
  return `${file}:${line}:${column}`
}

const EXCERPT_WIDTH = 104

export function excerptOf(source: Source, place: Place): string[] {
  const width = String(place.line).length
  const from = place.column + place.length > EXCERPT_WIDTH ? Math.max(0, place.column - 40) : 0
  const cut = (line: string): string => {
    const shown = line.replaceAll('\t', ' ').slice(from, from + EXCERPT_WIDTH)
    return `${from > 0 && shown !== '' ? '…' : ''}${shown}${line.length > from + EXCERPT_WIDTH ? '…' : ''}`
  }
  const line = (number: number, mark: string): string =>
    `${mark} ${String(number).padStart(width)} | ${cut(source.lines[number - 1] ?? '')}`.trimEnd()
  const before = place.line > 1 && (source.lines[place.line - 2] ?? '').trim() !== '' ? [line(place.line - 1, ' ')] : []
  const indent = ' '.repeat(place.column - 1 - from + (from > 0 ? 1 : 0))
  const carets = '^'.repeat(Math.max(1, Math.min(place.length, EXCERPT_WIDTH)))
  return [...before, line(place.line, '>'), `  ${' '.repeat(width)} | ${indent}${carets}`]
}

export function mistakeText(mistake: Mistake): string {
  const { message, hint, excerpt } = mistake
  const lines = [`${placeText(mistake)}: ${message}`, ...excerpt.map((line) => `  ${line}`)]
  if (hint !== undefined) lines.push(`  Try: ${hint}`)
  return lines.join('\n')
}

/** Each mistake once: what is used twice, or played in many rows, is wrong in one place. */
export function distinct(mistakes: readonly Mistake[]): Mistake[] {
  const places = new Map<string, Mistake>()
  for (const mistake of mistakes) if (!places.has(placeText(mistake))) places.set(placeText(mistake), mistake)
  return [...places.values()]
}

/** In the order of the lines, a file's own before those of the files that it uses. */
export function inOrder(mistakes: readonly Mistake[], own: string): Mistake[] {
  const rank = ({ place }: Mistake): string => (place.file === own ? '' : place.file)
  return mistakes.toSorted(
    (a, b) =>
      (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0) ||
      a.place.line - b.place.line ||
      a.place.column - b.place.column,
  )
}
