import type { Paint } from '../base/io.ts'
import type { Context } from '../kit/context.ts'
import { below } from '../output/output.ts'
import { tableOf } from '../output/table.ts'
import type { Column } from '../output/table.ts'
import { EMPTY_LINE, LOADING, lineWidth, pairs, paragraph, plainOf, toneOf } from './lines.ts'
import type { Line, Span, Tone } from './lines.ts'
import type { Detail, Layout } from './screen.ts'

const TONES: Readonly<Record<string, Tone>> = {
  APPROVED: 'good',
  Settled: 'good',
  DELIVERED: 'good',
  PAID: 'good',
  PAID_OUT: 'good',
  RESOLVED_MERCHANT_FAVOUR: 'good',
  SUSPENDED: 'bad',
  Failed: 'bad',
  DEAD: 'bad',
  FAILED: 'bad',
  RETURNED: 'bad',
  RESOLVED_PAYER_FAVOUR: 'bad',
  held: 'bad',
  'no:': 'bad',
  Refunded: 'info',
  ESCALATED: 'info',
}
const STATES: ReadonlySet<string> = new Set(['Status', 'KYB', 'Payouts', 'Active'])
const WRONG: ReadonlySet<string> = new Set(['Failure', 'Last error'])

function stateTone(label: string, text: string): Tone | undefined {
  if (WRONG.has(label)) return 'bad'
  if (!STATES.has(label) || text === 'yes' || text === 'not held') return undefined
  return TONES[text.split(' ')[0] ?? ''] ?? 'warn'
}

/** What a command prints of one thing, as lines of the screen: the command's own view draws it. */
function recordLines(width: number, draw: (context: Pick<Context, 'print'>) => void): Line[] {
  const drawn: Line[] = []
  const print: Context['print'] = {
    record(_item, lines, { after = [] } = {}) {
      drawn.push(
        ...pairs(
          lines.map(([label, text]) => [label, text, stateTone(label, text)]),
          width,
        ),
      )
      drawn.push(...below(after).flatMap((text) => (text === '' ? [EMPTY_LINE] : textLines(text, width))))
    },
    list: () => unexpected(),
    text: () => unexpected(),
    expect: () => undefined,
    isMachine: false,
    mode: 'table',
    isPartial: false,
    header: true,
    paint,
    width,
  }
  draw({ print })
  return drawn
}

/** One thing in detail: what the list knows stands in for the rest until the service has answered with it. */
export function detailLines<Row, Whole>(
  { above, print, below }: Pick<Detail<Row, Whole>, 'above' | 'print' | 'below'>,
  seen: { row: Row; whole: Whole | undefined },
  layout: Layout,
): Line[] {
  return [
    ...(above?.(seen, layout) ?? []),
    ...(print === undefined ? [] : recordLines(layout.width, (context) => print(context, seen))),
    ...(seen.whole === undefined ? LOADING : (below?.(seen.whole, layout) ?? [])),
  ]
}

export function tableLines<Row>(rows: readonly Row[], columns: readonly Column<Row>[], width: number): Line[] {
  return tableOf(rows, columns, { header: true, paint, width }).map(spansOf)
}

/** Colours stand in a text between marks that no printable text has. */
const paint: Paint = (style, text) => {
  const tone = toneOf(style)
  return tone === undefined ? text : `\u0001${tone}\u0002${text}\u0003`
}

function spansOf(text: string): Line {
  return text.split('\u0001').flatMap((part, index): Span[] => {
    if (index === 0) return [{ text: part }]
    const [tone = '', rest = ''] = part.split('\u0002')
    const [inside = '', behind = ''] = rest.split('\u0003')
    return [{ text: inside, tone: tone as Tone }, { text: behind }]
  })
}

/** A line of a table keeps its blanks; a longer one is a text. */
function textLines(text: string, width: number): Line[] {
  const parts = spansOf(text)
  return lineWidth(parts) <= width
    ? [parts]
    : paragraph(plainOf(parts), width, parts.find(({ tone }) => tone !== undefined)?.tone)
}

function unexpected(): never {
  throw new Error('a detail is drawn by the view of one thing')
}
