import type { Console } from './console.ts'
import { EMPTY_LINE, line, paragraph } from './lines.ts'
import type { Line } from './lines.ts'
import { canMark, mayUse } from './model/allowed.ts'
import { refreshed } from './model/cache.ts'
import { canGoBack, gone, inView, scrolled, wentBack } from './model/changes.ts'
import { editOf } from './model/edit.ts'
import { screensOf } from './model/state.ts'
import { allToggled, moved, toggled } from './model/view.ts'
import type { Move } from './model/view.ts'
import type { ScreenKey } from './screen.ts'
import { MODAL_WIDTH_MAX, attempt, readingLines, toolsOf } from './tools.ts'

type FrameKey = {
  /** Each of them does it; the first one is shown. */
  keys: readonly string[]
  /** What it does, in a word or two: for the footer and the help. */
  label: string
  /** The same for the footer, where it is shorter. */
  brief?: string
  /** Whether it is in the footer, and where: the help has all of them. */
  footer?: 'list' | 'detail' | 'both'
  /** Where it moves the selection, or a text that is read. */
  move?: Move
  /** Whether it has no effect now, and is left out of footer and help. */
  isOff?(console: Console): boolean
  run?(console: Console): void
}

const isNotWide = (console: Console): boolean => !console.seen().view.wide
const marksNothing = (console: Console): boolean => !canMark(console.seen().screen, console.state().session.rights)

export const FRAME_KEYS: readonly FrameKey[] = [
  { keys: ['enter'], label: 'open', footer: 'list', run: open },
  { keys: ['esc'], label: 'back; clears the filter, then the marks', run: ({ update }) => update(wentBack) },
  { keys: ['down', 'j'], label: 'next row', move: 'down' },
  { keys: ['up', 'k'], label: 'previous row', move: 'up' },
  { keys: ['g', '<', 'home'], label: 'first row; follow the newest', move: 'first' },
  { keys: ['G', '>', 'end'], label: 'last row', move: 'last' },
  { keys: ['pagedown', 'ctrl-d', 'ctrl-f'], label: 'page down', move: 'pageDown' },
  { keys: ['pageup', 'ctrl-u', 'ctrl-b'], label: 'page up', move: 'pageUp' },
  { keys: [']', 'tab'], label: 'next screen', run: (console) => goNext(console, 1) },
  { keys: ['[', 'shift-tab'], label: 'previous screen', run: (console) => goNext(console, -1) },
  { keys: ['/'], label: 'filter', footer: 'list', run: filter },
  {
    keys: [':'],
    label: 'command',
    footer: 'both',
    run: ({ update }) => update({ bar: { kind: 'command', edit: editOf('') } }),
  },
  { keys: ['space'], label: 'mark', footer: 'list', isOff: marksNothing, run: mark },
  { keys: ['*', 'ctrl-a'], label: 'mark all', isOff: marksNothing, run: markAll },
  { keys: ['ctrl-r'], label: 'read and draw everything again', run: refresh },
  { keys: ['p'], label: 'pause live updates', run: ({ state, update }) => update({ paused: !state().paused }) },
  { keys: ['y'], label: 'copy the id', run: copyId },
  {
    keys: ['w'],
    label: 'wide columns',
    run: ({ update }) => update(inView((view) => ({ ...view, wide: !view.wide, left: 0 }))),
  },
  { keys: ['left'], label: 'scroll left, in wide columns', isOff: isNotWide, run: (console) => sideways(console, -1) },
  { keys: ['right'], label: 'scroll right, in wide columns', isOff: isNotWide, run: (console) => sideways(console, 1) },
  { keys: ['i'], label: 'inbox', run: (console) => toolsOf(console).go('inbox') },
  {
    keys: ['L'],
    label: 'sign in, when signed out or too long ago',
    isOff: ({ state }) => !state().signedOut && !state().wantsFactor,
    run: (console) => void signIn(console),
  },
  { keys: ['?'], label: 'help', footer: 'both', run: help },
  { keys: ['q'], label: 'back or quit', brief: 'quit', footer: 'both', run: leave },
  { keys: ['ctrl-c'], label: 'quit', run: ({ host }) => host.quit() },
]

export function frameKey(name: string): FrameKey | undefined {
  return FRAME_KEYS.find(({ keys }) => keys.includes(name))
}

export function runFrameKey(console: Console, { move, isOff, run }: FrameKey): void {
  if (move !== undefined) moveBy(console, move)
  else if (isOff?.(console) !== true) run?.(console)
}

export function moveBy(console: Console, move: Move): void {
  const { ids, feed, listHeight, bodyHeight, opened } = console.seen()
  if (console.state().modal !== undefined) {
    const { lines, height } = readingLines(console)
    return console.update(scrolled(move, { count: lines.length, height }))
  }
  if (opened !== undefined) return console.update(scrolled(move, { count: opened.lines.length, height: bodyHeight }))
  // Before anything was read there is nowhere to go: what was selected and followed still is.
  if (feed.readAt === undefined && move !== 'first') return
  console.update(inView((view) => moved(view, move, { ids, height: listHeight })))
}

function open(console: Console): void {
  const { screen, row, opened } = console.seen()
  if (opened !== undefined || row === undefined) return
  if (screen.open !== undefined) return screen.open(row, toolsOf(console))
  if (screen.detail !== undefined) console.update(inView((view) => ({ ...view, open: { id: screen.id(row), top: 0 } })))
}

function goNext(console: Console, by: number): void {
  const names = screensOf(console.state()).map(({ name }) => name)
  const next = names.at((names.indexOf(console.seen().screen.name) + by) % names.length)
  if (next !== undefined) console.update(gone(next))
}

function filter(console: Console): void {
  const { opened, view } = console.seen()
  if (opened === undefined) console.update({ bar: { kind: 'filter', edit: editOf(view.filter) } })
}

function mark(console: Console): void {
  const { ids, view, listHeight, opened } = console.seen()
  const id = ids[view.index]
  if (opened !== undefined || id === undefined) return
  console.update(inView((before) => moved(toggled(before, id), 'down', { ids, height: listHeight })))
}

function markAll(console: Console): void {
  const { ids, opened } = console.seen()
  if (opened === undefined) console.update(inView((view) => allToggled(view, ids)))
}

function refresh(console: Console): void {
  console.host.repaint()
  console.update(refreshed(console.now()))
}

function copyId(console: Console): void {
  const { screen, row } = console.seen()
  if (row === undefined) return
  const id = screen.copies?.(row) ?? screen.id(row)
  copy(console, id)
  console.toast({ text: `copied ${id}`, tone: 'info' })
}

/** OSC 52: the terminal puts it on the clipboard, also over SSH. */
export function copy({ host }: Console, text: string): void {
  host.write(`\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`)
}

function sideways(console: Console, by: number): void {
  const { most } = console.seen().laid()
  console.update(inView((view) => ({ ...view, left: Math.max(0, Math.min(view.left + by, most)) })))
}

function leave(console: Console): void {
  if (canGoBack(console.state())) console.update(wentBack)
  else console.host.quit()
}

function signIn(console: Console): Promise<void> {
  return attempt(console, async () =>
    (await console.host.login({ secondFactor: console.state().wantsFactor }))
      ? { text: 'signed in', tone: 'good' }
      : { text: 'login cancelled', tone: 'info' },
  )
}

function aboutKey({ on, needs, writes }: ScreenKey<unknown>): string {
  const parts = [
    on === undefined ? '' : `in the ${on}`,
    needs === undefined && writes === true ? 'marked rows' : '',
  ].filter((text) => text !== '')
  return parts.length === 0 ? '' : ` (${parts.join('; ')})`
}

function rowsOf(list: readonly (readonly [keys: string, label: string])[]): Line[] {
  const width = Math.max(...list.map(([keys]) => keys.length), 0) + 2
  return list.map(([keys, label]) => [{ text: keys.padEnd(width), tone: 'info' }, { text: label }])
}

const KEY_WORDS: Readonly<Record<string, string>> = { pagedown: 'PgDn', pageup: 'PgUp' }

/** The help of the present screen, made of the keys themselves: what does nothing here is not in it. */
function help(console: Console): void {
  const { screen, layout } = console.seen()
  const { rights, isBoth } = console.state().session
  const own = screen.keys.filter((key) => mayUse(key, rights))
  const shown = FRAME_KEYS.filter(({ isOff }) => isOff?.(console) !== true)
  const numbers = screensOf(console.state()).filter(({ key }) => key !== '')
  const marks = 'Space marks a row, * all of them: a key that says "marked rows" is then done to each of them.'
  const lines = [
    ...rowsOf(own.map((key) => [key.key, `${key.label}${aboutKey(key)}`])),
    ...(marksNothing(console) ? [] : paragraph(marks, Math.min(layout.width, MODAL_WIDTH_MAX) - 4, 'dim')),
    ...(own.length === 0 ? [] : [EMPTY_LINE]),
    ...rowsOf(shown.map(({ keys, label }) => [keys.map((key) => KEY_WORDS[key] ?? key).join(' '), label])),
    EMPTY_LINE,
    ...rowsOf([
      [
        `${numbers[0]?.key ?? ''}..${numbers.at(-1)?.key ?? ''}`,
        'the screens, by the numbers above; the same again goes on to the next of its tab',
      ],
      [':help', 'the commands behind the colon'],
      ...(isBoth === true ? [[':as operator, :as merchant', 'switch to the operator or the merchant'] as const] : []),
      ['ctrl-e', 'in a form: write a reason in $EDITOR'],
      ['ctrl-y', 'in a form: copy the command that does the same'],
    ]),
    ...(rights.readonly ? [line('Nothing can be changed: the console was opened with --readonly.', 'warn')] : []),
  ]
  console.update({ modal: { kind: 'text', title: `Keys of ${screen.title}`, lines, top: 0 } })
}
