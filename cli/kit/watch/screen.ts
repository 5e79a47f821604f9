import { stripVTControlCharacters } from 'node:util'
import type { Io } from '../../base/io.ts'
import type { Printer } from '../../output/output.ts'
import { cutToWidth, visualLines } from '../../base/terminal-lines.ts'
import { printable } from '../../base/text.ts'
import { newsOf } from './shots.ts'
import type { News, Row, Shot, Shots } from './shots.ts'

export type ViewOptions = { io: Io; print: Printer; everyMs: number; title: string; note(text: string): void }

/** How the looks are shown. */
export type View = {
  /** What a line has to fit into. */
  readonly width: number | undefined
  show(shots: Shots): void
  /** The service was not there, and why. */
  lost(why: string): void
}

/** Beside each row stands what is with it, so that nothing is told by colour alone. */
const MARKS: Readonly<Record<News, string>> = { new: '+ ', changed: '~ ' }
const NO_MARK = '  '

const CLEAR_BELOW = '\u001b[J'
/** A terminal that knows these shows a frame at once. */
const FRAME = { begin: '\u001b[?2026h', end: '\u001b[?2026l' }

/** A terminal's view: what was drawn is cleared, and the newest stands in its place. What scrolled away stays as it is. */
export function makeScreen({ io, print, everyMs, title }: ViewOptions): View {
  const { stdout } = io
  const { paint } = print
  let before: readonly Shot[] | undefined
  let body: readonly string[] = []
  let drawn = ''

  function draw(status: string): void {
    const top = topLine(`Every ${intervalText(everyMs)}: ${printable(title)}`, timeOf(new Date()), stdout.columns)
    const room = Math.max(1, (stdout.rows ?? 24) - 3)
    const hidden = body.length - room
    const shown = hidden > 0 ? [...body.slice(0, room - 1), paint('dim', `… and ${hidden + 1} more lines`)] : body
    const lines = [
      paint('dim', top),
      ...shown,
      ...(status === '' ? [] : [paint('yellow', cutToWidth(status, stdout.columns))]),
    ]
    const text = `${lines.join('\n')}\n`
    const up = drawn === '' ? 0 : visualLines(drawn, stdout.columns)
    stdout.write(`${FRAME.begin}${up === 0 ? '' : `\u001b[${up}A\r${CLEAR_BELOW}`}${text}${FRAME.end}`)
    drawn = text
  }

  return {
    get width() {
      return stdout.columns > 0 ? Math.max(1, stdout.columns - NO_MARK.length) : undefined
    },
    show({ shots, notes }) {
      const news = newsOf(before, shots)
      const tables = shots.map((shot, at) => linesOf(shot, news[at], paint))
      before = shots
      const remarks = notes.flatMap((text) => text.split('\n')).map((line) => cutToWidth(line, stdout.columns))
      body = [...tables.flatMap((lines, at) => (at === 0 ? lines : ['', ...lines])), ...remarks]
      draw('')
    },
    lost: (why) => draw(`${why}; waiting for it`),
  }
}

function linesOf({ header, rows, empty }: Shot, news: ReadonlyMap<string, News> | undefined, paint: Printer['paint']) {
  if (rows.length === 0) return empty === '' ? [] : [empty]
  return [...header.map((line) => NO_MARK + line), ...rows.flatMap((row) => marked(row, news?.get(row.key), paint))]
}

function marked({ lines }: Row, news: News | undefined, paint: Printer['paint']): string[] {
  return lines.map((line, index) => {
    if (news === undefined) return NO_MARK + line
    // Colours of cells would end the mark's own in the middle of the line.
    const text = paint('bold', stripVTControlCharacters(line))
    return `${index === 0 ? paint(news === 'new' ? 'green' : 'yellow', MARKS[news]) : NO_MARK}${text}`
  })
}

function topLine(left: string, right: string, columns: number): string {
  const room = columns - right.length - 2
  if (room < 1) return cutToWidth(right, columns)
  return `${cutToWidth(left, room).padEnd(room)}  ${right}`
}

function timeOf(now: Date): string {
  return now.toTimeString().slice(0, 8)
}

function intervalText(ms: number): string {
  return ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`
}
