import { stripVTControlCharacters } from 'node:util'
import { widthOf } from './text.ts'

/** How many lines of a terminal of this width the text takes, with those that go on below themselves. */
export function visualLines(text: string, columns: number): number {
  const lines = text.endsWith('\n') ? text.slice(0, -1).split('\n') : text.split('\n')
  return lines.reduce((sum, line) => sum + linesOf(line, columns), 0)
}

function linesOf(line: string, columns: number): number {
  const width = widthOf(stripVTControlCharacters(line))
  return columns > 0 ? Math.max(1, Math.ceil(width / columns)) : 1
}

/** A line without colours, cut to what a terminal of this width shows in one. */
export function cutToWidth(line: string, columns: number): string {
  if (widthOf(line) <= columns) return line
  let kept = ''
  for (const character of line) {
    if (widthOf(kept + character) > columns - 1) break
    kept += character
  }
  return `${kept.trimEnd()}…`
}
