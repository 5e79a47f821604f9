import { printable } from '../base/text.ts'
import { screensOf } from './model/state.ts'
import type { Console } from './console.ts'
import { EMPTY_LINE, line, paragraph } from './lines.ts'
import type { Line } from './lines.ts'
import { canMark, mayUse } from './model/allowed.ts'
import type { Rights } from './model/allowed.ts'
import { FRAME_KEYS } from './model/keys.ts'
import type { FrameAction } from './model/keys.ts'
import type { ScreenKey } from './screen.ts'
import type { Seen } from './view-model.ts'

/** A border, and a line for its title and one for what to press. */
const MODAL_LINES = 4
/** As wide as a modal gets, for reading. */
const MODAL_WIDTH_MAX = 100

/** What a modal that is read shows, and how many lines of it there is room for. */
export function readingLines(console: Console): { title: string; lines: readonly Line[]; height: number } {
  const { modal } = console.state()
  const { bodyHeight, layout } = console.seen()
  const height = Math.max(1, bodyHeight - MODAL_LINES)
  const width = Math.max(20, Math.min(layout.width, MODAL_WIDTH_MAX) - 4)
  if (modal?.kind === 'text')
    return { title: printable(modal.title), lines: modal.lines.flatMap((text) => paragraph(text, width)), height }
  return { title: `Keys of ${console.seen().screen.title}`, lines: helpLines(console, width), height }
}

/** Where a key means more, or less, than the row that is selected. */
function aboutKey({ on, needs, writes }: ScreenKey<unknown>): string {
  const parts = [
    on === 'detail' ? 'in the detail' : on === 'list' ? 'in the list' : '',
    needs === undefined && writes === true ? 'marked rows' : '',
  ].filter((text) => text !== '')
  return parts.length === 0 ? '' : ` (${parts.join('; ')})`
}

/** The words of the command that does the same, as far as they are the same for every row. */
function twinOf(key: ScreenKey<unknown>, { screen, row }: Seen, { who }: Rights): string {
  const names = row === undefined ? [] : [screen.id(row), ...Object.values(screen.names?.(row) ?? {}).flat()]
  try {
    const words = key.command(row, {}, who).split(' ')
    const end = words.findIndex((word) => !/^[a-z][a-z-]*$/.test(word) || names.includes(word) || word === 'undefined')
    return words.slice(0, end === -1 ? words.length : end).join(' ')
  } catch {
    // What it is needs a row that is not here.
    return ''
  }
}

const MOVING: ReadonlySet<FrameAction> = new Set<FrameAction>([
  'up',
  'down',
  'pageUp',
  'pageDown',
  'first',
  'last',
  'left',
  'right',
  'next',
  'previous',
])
const KEY_WORDS: Readonly<Record<string, string>> = { pagedown: 'PgDn', pageup: 'PgUp' }

/** Three columns: keys, what they do, and the command that does the same; the columns never touch. */
function rowsOf(list: readonly (readonly [keys: string, label: string, twin?: string])[], width: number): Line[] {
  const keyWidth = Math.max(...list.map(([keys]) => keys.length), 0) + 2
  const labelWidth = Math.max(...list.map(([, label]) => label.length), 0) + 2
  const hasRoom = keyWidth + labelWidth + TWIN_LEAST <= width
  return list.map(([keys, label, twin = '']) => [
    { text: keys.padEnd(keyWidth), tone: 'info' },
    { text: hasRoom && twin !== '' ? label.padEnd(labelWidth) : label },
    ...(hasRoom ? [{ text: twin, tone: 'dim' as const }] : []),
  ])
}

const TWIN_LEAST = 18

/** The help of the present screen, made of the keys themselves: what does nothing here is not in it. */
function helpLines(console: Console, width: number): Line[] {
  const seen = console.seen()
  const { screen, view } = seen
  const rights = console.state().session.rights
  const own = screen.keys.filter((key) => mayUse(key, rights))
  const marks = canMark(screen, rights)
  const isOff = (action: FrameAction): boolean =>
    (['left', 'right'].includes(action) && !view.wide) ||
    (['mark', 'markAll'].includes(action) && !marks) ||
    (action === 'login' && !console.state().signedOut)
  const shown = FRAME_KEYS.filter(({ action }) => !isOff(action)).map(({ keys, label, action }) => ({
    isMove: MOVING.has(action),
    row: [keys.map((key) => KEY_WORDS[key] ?? key).join(' '), label] as const,
  }))
  const numbers = screensOf(console.state()).filter(({ key }) => key !== '')
  return [
    ...rowsOf(
      own.map((key) => [key.key, `${key.label}${aboutKey(key)}`, twinOf(key, seen, rights)]),
      width,
    ),
    ...(marks
      ? paragraph(
          'Space marks a row, * all of them: a key that says "marked rows" is then done to each of them.',
          width,
          'dim',
        )
      : []),
    ...(own.length === 0 ? [] : [EMPTY_LINE]),
    ...rowsOf(
      [...shown.filter(({ isMove }) => isMove), ...shown.filter(({ isMove }) => !isMove)].map(({ row }) => row),
      width,
    ),
    EMPTY_LINE,
    ...rowsOf(
      [
        [`${numbers[0]?.key ?? ''}..${numbers.at(-1)?.key ?? ''}`, 'the screens, by the numbers above'],
        [':help', 'the commands behind the colon'],
        ...(console.state().session.isBoth === true
          ? [[':as operator, :as merchant', 'act as the operator, or as the merchant'] as const]
          : []),
        ['ctrl-e', 'in a form: write a reason in $EDITOR'],
        ['ctrl-y', 'in a form: copy the command that does the same'],
      ],
      width,
    ),
    ...(rights.readonly ? [line('Nothing can be changed: the console was opened with --readonly.', 'warn')] : []),
  ]
}
