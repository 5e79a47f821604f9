import { createRequire } from 'node:module'
import { stripVTControlCharacters } from 'node:util'

let library: typeof import('string-width') | undefined

/** Loaded at its first use: it costs more to start than all of commander, and most output needs none of it. */
function stringWidth(): typeof import('string-width').default {
  library ??= createRequire(import.meta.url)('string-width') as typeof import('string-width')
  return library.default
}

/** Text of characters that take one column each: Latin letters, dashes, arrows, boxes and bars. */
const NARROW = /^[ -~\u00a1-\u00ac\u00ae-\u024f\u2010-\u2027\u20ac\u2190-\u21ff\u2500-\u259f\u2713\u2717]*$/

/** How many columns of a terminal the text takes, as Ink measures it too. */
export function widthOf(text: string): number {
  return NARROW.test(text) ? text.length : stringWidth()(text)
}

export function visualLines(text: string, columns: number): number {
  const lines = text.endsWith('\n') ? text.slice(0, -1).split('\n') : text.split('\n')
  return lines.reduce((sum, line) => sum + linesOf(line, columns), 0)
}

function linesOf(line: string, columns: number): number {
  const width = widthOf(stripVTControlCharacters(line))
  return columns > 0 ? Math.max(1, Math.ceil(width / columns)) : 1
}

/** The beginning of a text that has room in this width; a letter with its marks, and an emoji with its parts, stay whole. */
export function startOf(text: string, width: number): string {
  if (NARROW.test(text)) return text.slice(0, Math.max(0, width))
  let kept = ''
  let taken = 0
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    taken += widthOf(segment)
    if (taken > width) break
    kept += segment
  }
  return kept
}

export function cutTo(text: string, width: number, sign = '…'): string {
  return widthOf(text) <= width ? text : `${startOf(text, width - sign.length).trimEnd()}${sign}`
}

export function piecesOf(text: string, width: number): string[] {
  const pieces: string[] = []
  let rest = text
  while (widthOf(rest) > width) {
    const piece = startOf(rest, width) || firstOf(rest)
    pieces.push(piece)
    rest = rest.slice(piece.length)
  }
  return rest === '' && pieces.length > 0 ? pieces : [...pieces, rest]
}

function firstOf(text: string): string {
  const [first] = new Intl.Segmenter().segment(text)
  return first?.segment ?? text
}
