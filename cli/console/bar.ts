import type { Side } from '../client/auth/acting-side.ts'
import type { Console } from './console.ts'
import { whyHidden } from './model/allowed.ts'
import { knownRows, refreshed } from './model/cache.ts'
import { inView } from './model/changes.ts'
import { edited, editOf } from './model/edit.ts'
import type { Edit } from './model/edit.ts'
import { screensOf, viewOf } from './model/state.ts'
import { filtered } from './model/view.ts'
import type { Screen } from './screen.ts'
import { attempt, toolsOf } from './tools.ts'

/** The two sides of credentials that are both, as `:as` names them. */
const SIDES: Readonly<Record<string, Side>> = { operator: 'platform', merchant: 'merchant' }

/** A word behind the colon that names no screen: what it needs behind it, what it does, and doing it. */
type BarCommand = { words: readonly string[]; needs?: string; does?: string; run(console: Console, rest: string): void }

const COMMANDS: readonly BarCommand[] = [
  {
    words: ['as'],
    needs: 'operator|merchant',
    does: 'switch to the operator or the merchant, if you are both',
    run: actAs,
  },
  { words: ['operator'], run: (console) => actAs(console, 'operator') },
  { words: ['profile'], needs: '<name>', does: 'switch to another profile', run: useProfile },
  { words: ['refresh'], does: 'read everything again', run: ({ update, now }) => update(refreshed(now())) },
  {
    words: ['help', ''],
    run: (console) => toolsOf(console).show('Commands', commandLines(screensOf(console.state()))),
  },
  { words: ['quit', 'q'], does: 'leave', run: ({ host }) => host.quit() },
]

/** What is typed in the line at the bottom: a filter, which is seen at once, or a command, which Enter runs. */
export function barKey(console: Console, name: string): void {
  const { bar } = console.state()
  if (bar === undefined) return
  const isFilter = bar.kind === 'filter'
  // The colon or the slash goes as it came.
  if (['esc', 'enter'].includes(name) || (name === 'backspace' && bar.edit.text === ''))
    console.update({ bar: undefined })
  const text = name === 'esc' ? '' : bar.edit.text.trim()
  const edit = edited(bar.edit, name)
  if (name === 'enter' && !isFilter) obey(console, text)
  else if (name === 'enter' || name === 'esc') {
    if (isFilter) console.update(inView((view) => filtered(view, text, { isTaken: true })))
  } else if (name === 'tab' && !isFilter) complete(console)
  else if (edit !== undefined) typedInBar(console, edit)
}

export function typedInBar(console: Console, edit: Edit): void {
  const { bar } = console.state()
  if (bar !== undefined) console.update({ bar: { ...bar, edit } })
  if (bar?.kind === 'filter') console.update(inView((view) => filtered(view, edit.text.trim(), { isTaken: false })))
}

function complete(console: Console): void {
  const { bar } = console.state()
  const names = (word: string): readonly string[] => namesFor(console, word)
  const [first] = bar === undefined ? [] : candidates(bar.edit.text, screensOf(console.state()), names)
  if (first !== undefined) typedInBar(console, editOf(first))
}

const canFind = ({ noun, detail }: Screen): boolean => noun !== undefined && detail !== undefined

/**
 * What Tab leads to: the words that go on like it, or the names of what a word is about, those that begin like it before
 * those that have it in them.
 * @param names what can be named behind a word, such as the ids of rows, by that word
 */
export function candidates(
  text: string,
  screens: readonly Screen[],
  names: (word: string) => readonly string[],
): string[] {
  const at = text.indexOf(' ')
  const nouns = screens.flatMap((screen) => (canFind(screen) ? [screen.noun ?? ''] : []))
  const words = [...screens.map(({ name }) => name), ...nouns, ...COMMANDS.map(({ words: [word = ''] }) => word)]
  if (at === -1) return [...new Set(words)].filter((each) => each.startsWith(text) && each !== text)
  const [word, begun] = [text.slice(0, at), text.slice(at + 1).toLowerCase()]
  const fitting = [...new Set(names(word))].filter((each) => each !== '' && each.toLowerCase() !== begun)
  const first = fitting.filter((each) => each.toLowerCase().startsWith(begun))
  const inside = fitting.filter((each) => !first.includes(each) && each.toLowerCase().includes(begun))
  return [...first, ...inside].map((each) => `${word} ${each}`)
}

function namesFor(console: Console, word: string): readonly string[] {
  if (word === 'profile') return console.host.profiles()
  if (word === 'as') return Object.keys(SIDES)
  const rows = screensOf(console.state()).flatMap((screen) =>
    knownRows(console.state().cache, screen).map((row) => ({ screen, row })),
  )
  const names = rows.flatMap(({ screen, row }) => screen.names?.(row)[word] ?? [])
  return [...names, ...rows.flatMap(({ screen, row }) => (screen.noun === word ? [screen.id(row)] : []))]
}

/** Does what stands behind the colon: `payments`, `payments Failed`, `merchant acme`, `operator`, `profile live`. */
function obey(console: Console, text: string): void {
  const [word = '', ...others] = text.split(/\s+/)
  const rest = others.join(' ')
  const command = COMMANDS.find(({ words }) => words.includes(word))
  if (command !== undefined) return command.run(console, rest)
  // Naming a thing does not change the identity in use.
  if (word === 'merchant' && rest === '')
    return refuse(console, 'which merchant? :merchant <name>; to switch to one: :as merchant')
  const screens = screensOf(console.state())
  const noun = screens.find((screen) => screen.noun === word && canFind(screen))
  if (noun !== undefined && rest !== '') return void find(console, noun, rest)
  const begun = screens.filter(({ name }) => name.startsWith(word))
  const named = screens.find(({ name, noun: single }) => name === word || single === word)
  const screen = named ?? (begun.length === 1 ? begun[0] : undefined)
  if (screen !== undefined) return toolsOf(console).go(screen.name, rest === '' ? {} : { filter: rest })
  const hidden = console.state().screens.find(({ name, noun: single }) => name === word || single === word)
  refuse(
    console,
    hidden === undefined
      ? `unknown command :${word}; :help lists them`
      : whyHidden(hidden, console.state().session.rights),
  )
}

function refuse(console: Console, text: string): void {
  console.toast({ text, tone: 'bad' })
}

function commandLines(screens: readonly Screen[]): string[] {
  const row = (command: string, text: string): string => `${command.padEnd(24)}${text}`
  return [
    ...screens.map(({ name, title }) => row(`:${name} [filter]`, title)),
    '',
    ...screens.filter(canFind).map(({ noun = '', title }) => row(`:${noun} <id or name>`, `one of ${title}`)),
    '',
    ...COMMANDS.flatMap(({ words: [word = ''], needs, does }) =>
      does === undefined ? [] : [row(`:${word}${needs === undefined ? '' : ` ${needs}`}`, does)],
    ),
    '',
    'Tab completes words, names and ids.',
  ]
}

/** Who has gone on to something else while it was looked for is left there. */
async function find(console: Console, screen: Screen, text: string): Promise<void> {
  const { client, who } = toolsOf(console)
  const open = viewOf(console.state()).open?.id
  const where = console.state().screen
  console.toast({ text: `looking for ${text} ...`, tone: 'info' })
  await attempt(console, async () => {
    const id = (await screen.detail?.find?.(client, text, who.kind)) ?? text
    const { modal, bar, screen: now } = console.state()
    const isHere =
      modal === undefined && bar === undefined && now === where && viewOf(console.state()).open?.id === open
    if (!isHere || toolsOf(console).client !== client)
      return { text: `found: ${screen.noun ?? screen.name} ${id}`, tone: 'info' }
    toolsOf(console).go(screen.name, { open: id })
    return undefined
  })
}

function useProfile(console: Console, profile: string): void {
  if (profile === '') return refuse(console, 'which profile? :profile <name>')
  void attempt(console, async () => {
    await console.host.profile(profile)
    return { text: `now as profile ${profile}`, tone: 'good' }
  })
}

function actAs(console: Console, name: string): void {
  const side = SIDES[name]
  if (side === undefined) return refuse(console, 'as whom? :as operator, or :as merchant')
  void attempt(console, async () => {
    if (console.state().session.rights.who.kind === side) return { text: `you are the ${name}`, tone: 'info' }
    await console.host.half(side)
    return { text: `now as the ${name}`, tone: 'good' }
  })
}
