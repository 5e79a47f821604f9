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
