import { printable } from '../base/text.ts'
import { screensOf } from './model/state.ts'
import type { Console } from './console.ts'
import { EMPTY_LINE, line, paragraph } from './lines.ts'
import type { Line } from './lines.ts'
import { canMark, mayUse } from './model/allowed.ts'
import { FRAME_KEYS } from './model/keys.ts'
import type { FrameAction } from './model/keys.ts'
import type { ScreenKey } from './screen.ts'

const MODAL_LINES = 4
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

const KEY_WORDS: Readonly<Record<string, string>> = { pagedown: 'PgDn', pageup: 'PgUp' }

function rowsOf(list: readonly (readonly [keys: string, label: string])[]): Line[] {
  const keyWidth = Math.max(...list.map(([keys]) => keys.length), 0) + 2
  return list.map(([keys, label]) => [{ text: keys.padEnd(keyWidth), tone: 'info' }, { text: label }])
}

/** The help of the present screen, made of the keys themselves: what does nothing here is not in it. */
function helpLines(console: Console, width: number): Line[] {
  const { screen, view } = console.seen()
  const rights = console.state().session.rights
  const own = screen.keys.filter((key) => mayUse(key, rights))
  const marks = canMark(screen, rights)
  const isOff = (action: FrameAction): boolean =>
    (['left', 'right'].includes(action) && !view.wide) ||
    (['mark', 'markAll'].includes(action) && !marks) ||
    (action === 'login' && !console.state().signedOut)
  const shown = FRAME_KEYS.filter(({ action }) => !isOff(action)).map(
    ({ keys, label }) => [keys.map((key) => KEY_WORDS[key] ?? key).join(' '), label] as const,
  )
  const numbers = screensOf(console.state()).filter(({ key }) => key !== '')
  return [
    ...rowsOf(own.map((key) => [key.key, `${key.label}${aboutKey(key)}`])),
    ...(marks
      ? paragraph(
          'Space marks a row, * all of them: a key that says "marked rows" is then done to each of them.',
          width,
          'dim',
        )
      : []),
    ...(own.length === 0 ? [] : [EMPTY_LINE]),
    ...rowsOf(shown),
    EMPTY_LINE,
    ...rowsOf([
      [`${numbers[0]?.key ?? ''}..${numbers.at(-1)?.key ?? ''}`, 'the screens, by the numbers above'],
      [':help', 'the commands behind the colon'],
      ...(console.state().session.isBoth === true
        ? [[':as operator, :as merchant', 'act as the operator, or as the merchant'] as const]
        : []),
      ['ctrl-e', 'in a form: write a reason in $EDITOR'],
      ['ctrl-y', 'in a form: copy the command that does the same'],
    ]),
    ...(rights.readonly ? [line('Nothing can be changed: the console was opened with --readonly.', 'warn')] : []),
  ]
}
