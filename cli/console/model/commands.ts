import type { Side } from '../../client/auth/acting-side.ts'
import type { ScreenName } from '../screen-names.ts'
import type { Screen } from '../screen.ts'

type BarCommand =
  | { kind: 'screen'; name: ScreenName; filter: string | undefined }
  | { kind: 'find'; name: ScreenName; text: string }
  | { kind: 'profile'; profile: string }
  | { kind: 'half'; half: Side }
  | { kind: 'quit' }
  | { kind: 'help' }
  | { kind: 'refresh' }
  | { kind: 'unknown'; problem: string }

type Known = readonly Pick<Screen, 'name' | 'title' | 'noun' | 'detail'>[]

const OTHERS: Readonly<Record<string, BarCommand>> = {
  quit: { kind: 'quit' },
  q: { kind: 'quit' },
  help: { kind: 'help' },
  '': { kind: 'help' },
  refresh: { kind: 'refresh' },
  operator: { kind: 'half', half: 'platform' },
}

/** The two halves of credentials that are both, as `:as` names them. */
export const HALVES: readonly string[] = ['operator', 'merchant']

/** Reads what was typed behind the colon: `payments`, `payments Failed`, `merchant acme`, `operator`, `profile live`. */
export function parseBar(text: string, screens: Known): BarCommand {
  const [word = '', ...rest] = text.trim().split(/\s+/)
  const more = rest.join(' ')
  const other = OTHERS[word]
  if (other !== undefined) return other
  if (word === 'profile')
    return more === ''
      ? { kind: 'unknown', problem: 'which profile? :profile <name>' }
      : { kind: 'profile', profile: more }
  if (word === 'as' && HALVES.includes(more)) return halfNamed(more)
  if (word === 'as') return { kind: 'unknown', problem: 'as whom? :as operator, or :as merchant' }
  // The name of a thing changes nobody's identity.
  if (word === 'merchant' && more === '')
    return { kind: 'unknown', problem: 'which merchant? :merchant <name>; to act as one: :as merchant' }
  const noun = screens.find((screen) => screen.noun === word && screen.detail !== undefined)
  if (noun !== undefined && more !== '') return { kind: 'find', name: noun.name, text: more }
  const named = screens.find(({ name, noun: single }) => name === word || single === word)
  const begun = screens.filter(({ name }) => name.startsWith(word))
  const screen = named ?? (begun.length === 1 ? begun[0] : undefined)
  if (screen !== undefined) return { kind: 'screen', name: screen.name, filter: more === '' ? undefined : more }
  return { kind: 'unknown', problem: `:${word} is no command; :help lists them` }
}

function halfNamed(word: string): BarCommand {
  return { kind: 'half', half: word === 'operator' ? 'platform' : 'merchant' }
}

/** What may stand first in the command bar. */
export function wordsOf(screens: Known): string[] {
  const nouns = screens.flatMap(({ noun, detail }) => (noun === undefined || detail === undefined ? [] : [noun]))
  const others = ['profile', 'operator', 'as', 'refresh', 'help', 'quit']
  return [...new Set([...screens.map(({ name }) => name), ...nouns, ...others])]
}

/** The commands of the bar, as people read them. */
export function commandLines(screens: Known): string[] {
  const row = (command: string, text: string): string => `${command.padEnd(24)}${text}`
  return [
    ...screens.map(({ name, title }) => row(`:${name} [filter]`, title)),
    '',
    ...screens.flatMap(({ noun, detail, title }) =>
      noun === undefined || detail === undefined ? [] : [row(`:${noun} <id or name>`, `one of ${title}`)],
    ),
    '',
    row(':as operator|merchant', 'act as the operator, or as the merchant, where you are both'),
    row(':profile <name>', 'act as another profile'),
    row(':refresh', 'read everything anew'),
    row(':quit', 'leave'),
    '',
    'Tab completes words, names and ids.',
  ]
}

/**
 * What Tab leads to: the words that go on like it, or the names of what a word is about, those that begin like it before
 * those that have it in them.
 * @param names what can be named behind a word, such as the ids of rows, by that word
 */
export function candidates(text: string, screens: Known, names: (word: string) => readonly string[]): string[] {
  const at = text.indexOf(' ')
  if (at === -1) return wordsOf(screens).filter((each) => each.startsWith(text) && each !== text)
  const [word, begun] = [text.slice(0, at), text.slice(at + 1).toLowerCase()]
  const fitting = [...new Set(names(word))].filter((each) => each !== '' && each.toLowerCase() !== begun)
  const first = fitting.filter((each) => each.toLowerCase().startsWith(begun))
  const inside = fitting.filter((each) => !first.includes(each) && each.toLowerCase().includes(begun))
  return [...first, ...inside].map((each) => `${word} ${each}`)
}
