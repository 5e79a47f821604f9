import type { ReactElement } from 'react'
import { Box } from 'ink'
import { cutTo } from '../../base/width.ts'
import type { Console } from '../console.ts'
import { CUT, cropped, lineWidth } from '../lines.ts'
import type { Line, Span } from '../lines.ts'
import { fitsRow } from '../model/allowed.ts'
import { FRAME_KEYS } from '../frame-keys.ts'
import { doesIt, givenSoFar } from '../model/modal.ts'
import type { Form } from '../model/modal.ts'
import type { Bar } from '../model/state.ts'
import { Lines } from './text-line.tsx'

type KeyLabel = readonly [key: string, label: string]

/** What can be pressed here and now, as many as fit: what this screen can do, and below what every screen can. */
export function footerLines(console: Console, width: number): Line[] {
  const { modal, bar } = console.state()
  if (modal !== undefined) return [fit(modalKeys(console), width), []]
  if (bar !== undefined) return [fit(barKeys(bar), width), []]
  const { own, frame } = screenKeys(console)
  return own.length === 0 ? [fit(frame, width), []] : [fit(own, width), fit(frame, width)]
}

function modalKeys(console: Console): KeyLabel[] {
  const { modal } = console.state()
  if (modal?.kind === 'form') return formKeys(modal)
  return [
    ['j/k', 'scroll'],
    ['esc', modal?.kind === 'text' && modal.isGoing === true ? 'stop' : 'close'],
  ]
}

/** How to go on or leave comes first: it stays where there is little room. */
function formKeys(form: Form): KeyLabel[] {
  // What was sent can't be called back, only left alone.
  if (form.isWorking) return [['ctrl-c', 'quit; what was sent may still be done']]
  return [
    ['enter', doesIt(form) ? actText(form) : 'continue'],
    ['esc', 'cancel'],
    ...(form.at > 0 ? [['shift-tab', 'back'] as const] : []),
    ...(form.fields[form.at]?.long === true ? [['ctrl-e', 'your editor'] as const] : []),
    ['ctrl-y', 'copy the command'],
  ]
}

/** As much of what Enter does as leaves room for the key beside it. */
const ACT_WIDTH = 36

function actText(form: Form): string {
  return cutTo(form.act?.(givenSoFar(form)) ?? 'confirm', ACT_WIDTH, CUT)
}

function barKeys({ kind }: Bar): KeyLabel[] {
  if (kind === 'filter')
    return [
      ['enter', 'apply'],
      ['esc', 'clear'],
    ]
  return [
    ['enter', 'run; alone: all commands'],
    ['tab', 'complete'],
    ['esc', 'leave'],
  ]
}

function screenKeys(console: Console): { own: KeyLabel[]; frame: KeyLabel[] } {
  const { keys, opened, marked } = console.seen()
  const on = opened === undefined ? 'list' : 'detail'
  const own = keys.map((key): KeyLabel => {
    // Of what is marked, only what it can be done to.
    const isOfMany = marked.length > 0 && key.needs === undefined && key.writes === true
    return [key.key, isOfMany ? `${key.label} ${marked.filter((row) => fitsRow(key, row)).length}` : key.label]
  })
  const back: KeyLabel[] = opened === undefined ? [] : [['esc', 'back']]
  const frame = FRAME_KEYS.filter(
    ({ footer, isOff }) => (footer === 'both' || footer === on) && isOff?.(console) !== true,
  ).map(({ keys: [key = ''], label, brief }): KeyLabel => [key, brief ?? label])
  return { own, frame: [...back, ...frame] }
}

function spanOf([key, label]: KeyLabel): Span[] {
  return [{ text: ` ${key}`, tone: 'info' }, { text: label === '' ? '' : ` ${label} ` }]
}

function fit(list: readonly KeyLabel[], width: number): Line {
  const line: Span[] = []
  for (const each of list) {
    const next = spanOf(each)
    // The blank at the very end may be one too many.
    if (lineWidth([...line, ...next]) <= width + 1) line.push(...next)
  }
  return cropped(line, width)
}

export function Footer({ console, width }: { console: Console; width: number }): ReactElement {
  return (
    <Box flexDirection="column" flexShrink={0}>
      <Lines lines={footerLines(console, width)} />
    </Box>
  )
}
