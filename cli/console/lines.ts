import type { Style } from '../base/io.ts'
import { printable } from '../base/text.ts'
import { startOf, widthOf } from '../base/width.ts'
import { wrappedLines } from '../base/wrap.ts'

/** Whether the terminal's texts are in UTF-8, as the locale says. */
export function isUtf8(env: NodeJS.ProcessEnv): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find((text) => text !== undefined && text !== '') ?? ''
  // A terminal without a locale is most often one that can: a container's shell has none.
  return locale === '' || /utf-?8/i.test(locale)
}

export function cutSign(env: NodeJS.ProcessEnv): string {
  return isUtf8(env) ? '…' : '...'
}

export const CUT = cutSign(process.env)

/** How a piece of text looks. Its words say the same: colours may not be seen. */
export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'dim' | 'bold' | 'selected' | 'fresh' | 'live'

/** A piece of a line that looks the same throughout. `said` is what is read aloud of it, where that is not its text. */
export type Span = { text: string; tone?: Tone | undefined; said?: string | undefined }

/** One line of the screen. Its texts may come from anywhere: they are made printable where they are shown. */
export type Line = readonly Span[]

export const EMPTY_LINE: Line = [{ text: '' }]

/** Below what the list knows, until the service has answered with the rest. */
export const LOADING: readonly Line[] = [EMPTY_LINE, [{ text: 'Loading ...', tone: 'dim' }]]

const TONES: Readonly<Record<string, Tone>> = {
  green: 'good',
  red: 'bad',
  yellow: 'warn',
  magenta: 'info',
  bold: 'bold',
}

export function toneOf(style: Style | undefined): Tone | undefined {
  return typeof style === 'string' ? TONES[style] : undefined
}

export function line(text: string, tone?: Tone): Line {
  return [{ text, tone }]
}

export function plainOf(parts: Line): string {
  return parts.map(({ text }) => printable(text)).join('')
}

export function saidOf(parts: Line): string {
  return parts.map(({ text, said }) => printable(said ?? text)).join('')
}

export function lineWidth(parts: Line): number {
  return parts.reduce((sum, { text }) => sum + widthOf(printable(text)), 0)
}

export function paragraph(text: string, width: number, tone?: Tone): Line[] {
  return wrappedLines(printable(text, 'lines'), Math.max(1, width)).map((each) => line(each, tone))
}

/** What a key does, behind a heading: ` (o opens them)`; nothing where it is no key here. */
export function keyText(keys: ReadonlySet<string> | undefined, key: string, does: string): string {
  return keys?.has(key) === true ? ` (${key} ${does})` : ''
}

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

export function cropped(parts: Line, width: number): Line {
  const kept: Span[] = []
  let at = 0
  for (const { text, tone } of parts) {
    const shown = printable(text)
    const piece = startOf(shown, width - at)
    at += widthOf(shown)
    if (piece !== '') kept.push({ text: piece, tone })
  }
  return kept
}

export function cutTo(parts: Line, width: number): Line {
  if (lineWidth(parts) <= width) return parts
  if (plainWidth(parts) <= width) return cropped(parts, width)
  return [...cropped(parts, Math.max(0, width - CUT.length)), { text: CUT }]
}

/** How wide it is without the blanks at its end. */
function plainWidth(parts: Line): number {
  return widthOf(plainOf(parts).trimEnd())
}

/** Text in at most so many lines; where it needs more, the last one says that it goes on. */
export function paragraphOf(text: string, { width, most }: { width: number; most: number }): string[] {
  const lines = paragraph(text, width).map(plainOf)
  if (lines.length <= most || most < 1) return lines.slice(0, Math.max(0, most))
  const rest = lines.slice(most - 1).join(' ')
  return [...lines.slice(0, most - 1), plainOf(cutTo(line(rest), width))]
}

export function padded(parts: Line, width: number): Line {
  const missing = width - lineWidth(parts)
  return missing > 0 ? [...parts, { text: ' '.repeat(missing) }] : parts
}
