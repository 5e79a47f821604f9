import type { Explanation, TimelineEntry } from '../../src/wire/explain.ts'
import type { Paint, Style } from '../base/io.ts'
import { endOfId, printable, shortTime } from '../base/text.ts'
import { distanceOf, roughly } from '../base/times.ts'
import { wrapped } from '../base/wrap.ts'

/** How many attempts of one webhook are shown without --all: those of one delivery that was not replayed. */
const ATTEMPTS_SHOWN = 6
/** How many entries are shown without --all: the first ones, and then the last. */
const FIRST_SHOWN = 10
const LAST_SHOWN = 30
/** In a narrower terminal a text is printed below its time. */
const ONE_LINE_MIN = 100
/** `59 minutes ago`. */
const DISTANCE_WIDTH = 14

export type TimelineOptions = { paint: Paint; width: number; all: boolean }

type Group = { entry: TimelineEntry; children: TimelineEntry[] }

export function timelineLines(explanation: Explanation, { all, ...options }: TimelineOptions): string[] {
  const groups = grouped(explanation.timeline)
  const hidden = all ? 0 : Math.max(0, groups.length - FIRST_SHOWN - LAST_SHOWN)
  const shown = hidden === 0 ? groups : [...groups.slice(0, FIRST_SHOWN), ...groups.slice(-LAST_SHOWN)]
  const lines = shown.map((group) => groupLines(group, { ...options, all, asOf: explanation.as_of }))
  const gap = hidden === 0 ? [] : [remark(options, `... ${hidden} more between: --all`)]
  return [
    ...lines.slice(0, hidden === 0 ? undefined : FIRST_SHOWN).flat(),
    ...gap,
    ...(hidden === 0 ? [] : lines.slice(FIRST_SHOWN).flat()),
    ...explanation.left_out.flatMap((text) => wrapped(printable(`Not shown: ${text}.`), options.width, '  ')),
  ]
}

function grouped(timeline: readonly TimelineEntry[]): Group[] {
  const webhooks = new Map<string, Group>()
  const groups: Group[] = []
  for (const entry of timeline) {
    const parent = entry.ref === null || !isChild(entry) ? undefined : webhooks.get(entry.ref)
    if (parent !== undefined) {
      parent.children.push(entry)
      continue
    }
    const group = { entry, children: [] }
    groups.push(group)
    if (entry.kind === 'webhook' && entry.ref !== null) webhooks.set(entry.ref, group)
  }
  return groups
}

function isChild({ kind }: TimelineEntry): boolean {
  return kind === 'attempt'
}

type LineOptions = TimelineOptions & { asOf: string }

function groupLines({ entry, children }: Group, options: LineOptions): string[] {
  const hidden = options.all ? 0 : Math.max(0, children.length - ATTEMPTS_SHOWN - 1)
  const gap =
    hidden === 0 ? [] : [remark(options, `    ... ${hidden} earlier attempt${hidden === 1 ? '' : 's'}: --all`)]
  return [
    ...entryLines(entry, options),
    ...gap,
    ...children.slice(hidden).flatMap((child) => entryLines(child, { ...options, isBelow: true })),
  ]
}

function entryLines(entry: TimelineEntry, options: LineOptions & { isBelow?: boolean }): string[] {
  const { paint, width, asOf, isBelow = false } = options
  const style = styleOf(entry)
  const text = printable(textOf(entry))
  const distance = roughly(distanceOf(entry.at, Date.parse(asOf)))
  const isNarrow = width < ONE_LINE_MIN
  const head = isNarrow
    ? `  ${shortTime(entry.at).slice(5, 19)}  ${distance}`
    : `  ${shortTime(entry.at)}  ${distance.padEnd(DISTANCE_WIDTH)}  `
  const indent = ' '.repeat((isNarrow ? 4 : head.length) + (isBelow ? 2 : 0))
  const [first = '', ...rest] = wrapped(text, width - indent.length - 2).map((line) =>
    style === undefined ? line : paint(style, line),
  )
  const mark = isBelow ? '- ' : ''
  const below = rest.map((line) => `${indent}${isBelow ? '  ' : ''}${line}`)
  if (isNarrow) return [paint('dim', head), `${indent}${mark}${first}`, ...below]
  return [`${paint('dim', head)}${isBelow ? '  ' : ''}${mark}${first}`, ...below]
}

/** The text of an entry with its actor. Jobs are named in their texts, and attempts and consents have no actor. */
function textOf({ kind, status, text, by, ref }: TimelineEntry): string {
  const whose = by === null || by === 'BATCH_JOB' ? '' : ` (${by})`
  switch (kind) {
    case 'attempt':
    case 'bank':
    case 'consent':
    case 'due':
      return text
    case 'webhook':
      return `${text}: ${status ?? ''}${ref === null ? '' : ` [${endOfId(ref)}]`}`
    case 'payment':
      return `${status ?? ''}: ${text}${whose}`
    case 'refund':
    case 'dispute':
      return `${kind} ${status ?? ''}: ${text}${whose}`
    case 'settlement':
      return `${text}${ref === null ? '' : ` [${endOfId(ref)}]`}`
    case 'payout':
      return `${status ?? ''}: ${text}${ref === null ? '' : ` [${endOfId(ref)}]`}`
    case 'merchant':
    case 'operator':
      return `${text}${whose}`
    default:
      return kind satisfies never
  }
}

const STYLES: Readonly<Record<string, Style>> = {
  Authorised: 'green',
  Settled: 'green',
  Refunded: 'magenta',
  Failed: 'red',
  AUTHORISED: 'green',
  REJECTED: 'red',
  EXPIRED: 'red',
  EXECUTED: 'green',
  DELIVERED: 'green',
  DEAD: 'red',
  RESOLVED_MERCHANT_FAVOUR: 'green',
  RESOLVED_PAYER_FAVOUR: 'red',
}

function styleOf({ kind, status }: TimelineEntry): Style | undefined {
  if (kind === 'due') return 'yellow'
  if (kind === 'operator') return 'magenta'
  if (kind === 'attempt') return status === 'delivered' ? 'green' : 'red'
  if (status === 'FAILED') return kind === 'webhook' ? 'yellow' : 'red'
  return STYLES[status ?? '']
}

function remark({ paint }: Pick<TimelineOptions, 'paint'>, text: string): string {
  return paint('dim', `  ${text}`)
}
