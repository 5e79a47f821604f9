import { printable, widthOf } from '../text.ts'
import { wrapped } from '../wrap.ts'

/** How a piece of text looks. What it means stands in its words as well: not everybody sees colours. */
export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'dim' | 'bold' | 'selected' | 'fresh' | 'live'

/** A piece of a line that looks the same throughout. */
export type Span = { text: string; tone?: Tone | undefined }

/** One line of the screen. Its texts may come from anywhere: they are made printable where they are shown. */
export type Line = readonly Span[]

export const EMPTY_LINE: Line = [{ text: '' }]

/** A line of one piece. */
export function line(text: string, tone?: Tone): Line {
  return [{ text, tone }]
}

/** The text of a line without its looks. */
export function plainOf(parts: Line): string {
  return parts.map(({ text }) => printable(text)).join('')
}

export function lineWidth(parts: Line): number {
  return parts.reduce((sum, { text }) => sum + widthOf(printable(text)), 0)
}

/** Text in as many lines as it needs; its own line ends stay. A word longer than a line is cut, not lost. */
export function paragraph(text: string, width: number, tone?: Tone): Line[] {
  const lines = text.split('\n').flatMap((each) => wrapped(printable(each), width))
  return lines.flatMap((each) => chopped(each, width)).map((each) => line(each, tone))
}

function chopped(text: string, width: number): string[] {
  if (widthOf(text) <= width || width < 2) return [text]
  const lines: string[] = []
  let rest = ''
  for (const character of text) {
    if (widthOf(rest + character) > width) {
      lines.push(rest)
      rest = ''
    }
    rest += character
  }
  return [...lines, rest]
}

/** A heading, with an empty line before it. */
export function heading(text: string): Line[] {
  return [EMPTY_LINE, line(text, 'bold')]
}

export type Pair = readonly [label: string, text: string, tone?: Tone | undefined]

/** Labels and texts in two columns; empty texts are left out, long ones go on below themselves. */
export function pairs(list: readonly Pair[], width: number): Line[] {
  const shown = list.filter(([, text]) => text !== '')
  const indent = Math.min(Math.max(0, ...shown.map(([label]) => widthOf(label))) + 2, 24)
  return shown.flatMap(([label, text, tone]) =>
    paragraph(text, Math.max(20, width - indent), tone).map((parts, index) => [
      { text: (index === 0 ? label : '').padEnd(indent), tone: 'dim' as const },
      ...parts,
    ]),
  )
}

/** Cuts a line to a width, from an offset on: what lies to the left and right of it is not shown. */
export function cropped(parts: Line, width: number, from = 0): Line {
  const kept: Span[] = []
  let at = 0
  for (const { text, tone } of parts) {
    let piece = ''
    for (const character of printable(text)) {
      const size = widthOf(character)
      if (at >= from && at + size <= from + width) piece += character
      at += size
    }
    if (piece !== '') kept.push({ text: piece, tone })
  }
  return kept
}

/** A line that is cut where it is too long, and says so in signs that every terminal has. */
export function cutTo(parts: Line, width: number): Line {
  return lineWidth(parts) <= width ? parts : [...cropped(parts, width - 3), { text: '...' }]
}

/** A line with blanks behind it up to a width. */
export function padded(parts: Line, width: number): Line {
  const missing = width - lineWidth(parts)
  return missing > 0 ? [...parts, { text: ' '.repeat(missing) }] : parts
}

/** Two texts beside each other, or below each other where there is no room for two. */
export function sideBySide(
  left: { title: string; text: string },
  right: { title: string; text: string },
  width: number,
): Line[] {
  if (width < 70) return [left, right].flatMap(({ title, text }) => [...heading(title), ...paragraph(text, width)])
  const room = Math.floor((width - 3) / 2)
  const columns = [left, right].map(({ title, text }) => [line(title, 'bold'), ...paragraph(text, room)])
  const [one = [], two = []] = columns
  const count = Math.max(one.length, two.length)
  const between: Span = { text: ' | ', tone: 'dim' }
  return [
    EMPTY_LINE,
    ...Array.from({ length: count }, (_, index) => [
      ...padded(cropped(one[index] ?? EMPTY_LINE, room), room),
      between,
      ...cropped(two[index] ?? EMPTY_LINE, room),
    ]),
  ]
}
