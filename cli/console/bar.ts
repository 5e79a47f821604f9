import type { Side } from '../client/auth/acting-side.ts'
import type { Console } from './console.ts'
import { whyHidden } from './model/allowed.ts'
import { knownRows, refreshed } from './model/cache.ts'
import { inView } from './model/changes.ts'
import { HALVES, candidates, commandLines, parseBar } from './model/commands.ts'
import { edited, editOf } from './model/edit.ts'
import type { Edit } from './model/edit.ts'
import { screensOf, viewOf } from './model/state.ts'
import { filtered } from './model/view.ts'
import type { ScreenName } from './screen-names.ts'
import { attempt, toolsOf } from './tools.ts'

/** What is typed in the line at the bottom: a filter, which is seen at once, or a command, which Enter runs. */
export function barKey(console: Console, name: string): void {
  const { bar } = console.state()
  if (bar === undefined) return
  const isFilter = bar.kind === 'filter'
  if (name === 'esc') {
    console.update({ bar: undefined })
    if (isFilter) console.update(inView((view) => filtered(view, '', { isTaken: true })))
    return
  }
  if (name === 'enter') {
    console.update({ bar: undefined })
    return isFilter
      ? console.update(inView((view) => filtered(view, bar.edit.text.trim(), { isTaken: true })))
      : obey(console, bar.edit.text)
  }
  if (name === 'tab') return isFilter ? undefined : complete(console)
  // The colon or the slash goes as it came.
  if (name === 'backspace' && bar.edit.text === '') return console.update({ bar: undefined })
  const edit = edited(bar.edit, name)
  if (edit !== undefined) typedInBar(console, edit)
}

/** The line at the bottom is another; what it filters is seen while it is typed. */
export function typedInBar(console: Console, edit: Edit): void {
  const { bar } = console.state()
  if (bar !== undefined) console.update({ bar: { ...bar, edit } })
  if (bar?.kind === 'filter') console.update(inView((view) => filtered(view, edit.text.trim(), { isTaken: false })))
}

/** Tab goes on to the first line that it could become. */
function complete(console: Console): void {
  const { bar } = console.state()
  const [first] =
    bar === undefined ? [] : candidates(bar.edit.text, screensOf(console.state()), (word) => namesFor(console, word))
  if (first !== undefined) typedInBar(console, editOf(first))
}

/** What can be named behind a word: what rows are called that were read for any screen, then their ids. */
function namesFor(console: Console, word: string): readonly string[] {
  if (word === 'profile') return console.host.profiles()
  if (word === 'as') return HALVES
  const rows = screensOf(console.state()).flatMap((screen) =>
    knownRows(console.state().cache, screen).map((row) => ({ screen, row })),
  )
  const names = rows.flatMap(({ screen, row }) => screen.names?.(row)[word] ?? [])
  return [...names, ...rows.flatMap(({ screen, row }) => (screen.noun === word ? [screen.id(row)] : []))]
}

function obey(console: Console, text: string): void {
  const command = parseBar(text, screensOf(console.state()))
  if (command.kind === 'quit') console.host.quit()
  else if (command.kind === 'help') toolsOf(console).show('Commands', commandLines(screensOf(console.state())))
  else if (command.kind === 'refresh') console.update(refreshed(console.now()))
  else if (command.kind === 'screen')
    toolsOf(console).go(command.name, command.filter === undefined ? {} : { filter: command.filter })
  else if (command.kind === 'find') void find(console, command.name, command.text)
  else if (command.kind === 'profile') void asProfile(console, command.profile)
  else if (command.kind === 'half') void asHalf(console, command.half)
  else console.toast({ text: hiddenText(console, text) ?? command.problem, tone: 'bad' })
}

/** Where it names a screen of another role, whose that is. */
function hiddenText(console: Console, text: string): string | undefined {
  const [word] = text.trim().split(/\s+/)
  const hidden = console.state().screens.find(({ name, noun }) => name === word || noun === word)
  const isShown = hidden !== undefined && screensOf(console.state()).some(({ name }) => name === hidden.name)
  return hidden === undefined || isShown ? undefined : whyHidden(hidden, console.state().session.rights)
}

/** Who has gone on to something else while it was looked for is left there. */
async function find(console: Console, name: ScreenName, text: string): Promise<void> {
  const screen = screensOf(console.state()).find((each) => each.name === name)
  const { client, who } = toolsOf(console)
  const open = viewOf(console.state()).open?.id
  const where = console.state().screen
  console.toast({ text: `looking for ${text} ...`, tone: 'info' })
  await attempt(console, async () => {
    const id = (await screen?.detail?.find?.(client, text, who.kind)) ?? text
    const { modal, bar, screen: now } = console.state()
    const isHere =
      modal === undefined && bar === undefined && now === where && viewOf(console.state()).open?.id === open
    if (!isHere || toolsOf(console).client !== client)
      return { text: `found: ${screen?.noun ?? name} ${id}`, tone: 'info' }
    toolsOf(console).go(name, { open: id })
    return undefined
  })
}

function asProfile(console: Console, profile: string): Promise<void> {
  return attempt(console, async () => {
    await console.host.profile(profile)
    return { text: `now as profile ${profile}`, tone: 'good' }
  })
}

function asHalf(console: Console, half: Side): Promise<void> {
  const name = half === 'platform' ? 'operator' : 'merchant'
  return attempt(console, async () => {
    if (console.state().session.rights.who.kind === half) return { text: `you are the ${name}`, tone: 'info' }
    await console.host.half(half)
    return { text: `now as the ${name}`, tone: 'good' }
  })
}
