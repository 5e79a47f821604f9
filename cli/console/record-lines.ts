import type { Context } from '../kit/context.ts'
import { EMPTY_LINE, line, pairs, paragraph } from './lines.ts'
import type { Line, Tone } from './lines.ts'

/** How the words look that records begin with; what they mean they say themselves. */
const TONES: Readonly<Record<string, Tone>> = {
  APPROVED: 'good',
  Settled: 'good',
  DELIVERED: 'good',
  RESOLVED_MERCHANT_FAVOUR: 'good',
  SUSPENDED: 'bad',
  Failed: 'bad',
  DEAD: 'bad',
  RESOLVED_PAYER_FAVOUR: 'bad',
  held: 'bad',
  'no:': 'bad',
  Refunded: 'info',
  ESCALATED: 'info',
}
const STATES: ReadonlySet<string> = new Set(['Status', 'KYB', 'Payouts', 'Active'])
const WRONG: ReadonlySet<string> = new Set(['Failure', 'Last error'])

function toneOf(label: string, text: string): Tone | undefined {
  if (WRONG.has(label)) return 'bad'
  if (!STATES.has(label) || text === 'yes' || text === 'not held') return undefined
  return TONES[text.split(' ')[0] ?? ''] ?? 'warn'
}

/** What a command prints of one thing, as lines of the screen: the command's own view draws it. */
export function recordLines(width: number, draw: (context: Pick<Context, 'print'>) => void): Line[] {
  const drawn: Line[] = []
  const print: Context['print'] = {
    record({ lines, after }) {
      drawn.push(
        ...pairs(
          lines.map(([label, text]) => [label, text, toneOf(label, text)]),
          width,
        ),
      )
      if (after !== undefined) drawn.push(EMPTY_LINE, ...after.split('\n').flatMap((text) => textLines(text, width)))
    },
    list: () => unexpected(),
    text: () => unexpected(),
    expect: () => undefined,
    isMachine: false,
    mode: 'table',
    isPartial: false,
    header: true,
    paint: (_style, text) => text,
    width,
  }
  draw({ print })
  return drawn
}

/** A line of a table keeps its blanks; a longer one is a text. */
function textLines(text: string, width: number): Line[] {
  return text.length <= width ? [line(text)] : paragraph(text, width)
}

function unexpected(): never {
  throw new Error('a detail is drawn by the view of one thing')
}
