import type { Key } from 'ink'

/** What Ink says of a key. */
type PressedKey = Readonly<Partial<Key>>

const NAMED: readonly (readonly [keyof PressedKey, string])[] = [
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['pageUp', 'pageup'],
  ['pageDown', 'pagedown'],
  ['home', 'home'],
  ['end', 'end'],
  ['return', 'enter'],
  ['escape', 'esc'],
]

const OF_CHARACTER: Readonly<Record<string, string>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\t': 'tab',
  ' ': 'space',
  '\u007f': 'backspace',
  '\b': 'backspace',
  '\u001b': 'esc',
}

/** With Alt they are what they are without. */
const ARROWS = ['upArrow', 'downArrow', 'leftArrow', 'rightArrow', 'pageUp', 'pageDown', 'home', 'end'] as const

/** The names of the keys in one piece of input: what is typed fast comes as several characters at once. */
export function keyNames(input: string, key: PressedKey): string[] {
  if (key.meta === true && !ARROWS.some((name) => key[name] === true))
    // Esc and the next key, typed so fast that they came as one: nothing here has a key with Alt.
    return ['esc', ...keyNames(input, { ...key, meta: false })]
  if (key.tab === true) return [key.shift === true ? 'shift-tab' : 'tab']
  const named = NAMED.find(([flag]) => key[flag] === true)
  if (named !== undefined) return [named[1]]
  if (key.backspace === true) return ['backspace']
  if (key.delete === true) return ['delete']
  if (key.ctrl === true) return input === '' ? [] : [`ctrl-${input}`]
  return [...input].flatMap((character) => {
    const name = OF_CHARACTER[character]
    if (name !== undefined) return [name]
    const code = character.codePointAt(0) ?? 0
    if (code >= 1 && code <= 26) return [`ctrl-${String.fromCodePoint(code + 96)}`]
    return code < 32 ? [] : [character]
  })
}

type FrameKey<Action = string> = {
  /** Each of them does it; the first one is shown. */
  keys: readonly string[]
  /** What it does, in a word or two: for the footer and the help. */
  label: string
  /** The same for the footer, where it is shorter. */
  brief?: string
  action: Action
  /** Whether it stands in the footer, and where: the help has all of them. */
  footer?: 'list' | 'detail' | 'both'
}

const KEYS = [
  { keys: ['enter'], label: 'open', action: 'open', footer: 'list' },
  { keys: ['esc'], label: 'back; clears the filter, then the marks', action: 'back' },
  { keys: ['down', 'j'], label: 'next row', action: 'down' },
  { keys: ['up', 'k'], label: 'previous row', action: 'up' },
  { keys: ['g', '<', 'home'], label: 'first row; follow the newest', action: 'first' },
  { keys: ['G', '>', 'end'], label: 'last row', action: 'last' },
  { keys: ['pagedown', 'ctrl-d', 'ctrl-f'], label: 'page down', action: 'pageDown' },
  { keys: ['pageup', 'ctrl-u', 'ctrl-b'], label: 'page up', action: 'pageUp' },
  { keys: [']', 'tab'], label: 'next screen', action: 'next' },
  { keys: ['[', 'shift-tab'], label: 'previous screen', action: 'previous' },
  { keys: ['/'], label: 'filter', action: 'filter', footer: 'list' },
  { keys: [':'], label: 'command', action: 'command', footer: 'both' },
  { keys: ['space'], label: 'mark', action: 'mark', footer: 'list' },
  { keys: ['*', 'ctrl-a'], label: 'mark all', action: 'markAll' },
  { keys: ['ctrl-r'], label: 'read and draw everything again', action: 'refresh' },
  { keys: ['p'], label: 'pause live updates', action: 'pause' },
  { keys: ['y'], label: 'copy the id', action: 'copy' },
  { keys: ['w'], label: 'wide columns', action: 'wide' },
  { keys: ['left'], label: 'scroll left, in wide columns', action: 'left' },
  { keys: ['right'], label: 'scroll right, in wide columns', action: 'right' },
  { keys: ['i'], label: 'inbox', action: 'inbox' },
  { keys: ['L'], label: 'sign in, when signed out', action: 'login' },
  { keys: ['?'], label: 'help', action: 'help', footer: 'both' },
  { keys: ['q'], label: 'back or quit', brief: 'quit', action: 'leave', footer: 'both' },
  { keys: ['ctrl-z'], label: 'stop; fg in the shell goes on', action: 'stop' },
  { keys: ['ctrl-c'], label: 'quit', action: 'quit' },
] as const satisfies readonly FrameKey[]

/** What the keys of every screen do. */
export type FrameAction = (typeof KEYS)[number]['action']

/** The keys that mean the same on every screen. */
export const FRAME_KEYS: readonly FrameKey<FrameAction>[] = KEYS

/** What a key does on every screen; undefined where it is none of these. */
export function frameAction(name: string): FrameAction | undefined {
  return FRAME_KEYS.find(({ keys }) => keys.includes(name))?.action
}
