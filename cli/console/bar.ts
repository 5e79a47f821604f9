import { errorText } from './action-runner.ts'
import type { Half } from '../client/auth/acting-side.ts'
import type { Console } from './console.ts'
import { HALVES, candidates, commandLines, parseBar } from './model/commands.ts'
import { whyHidden } from './model/allowed.ts'
import { edited } from './model/edit.ts'
import { viewOf } from './model/state.ts'
import type { Edit } from './model/edit.ts'
import type { PressOptions } from './key-dispatch.ts'
import type { ScreenName } from './screen-names.ts'

export type Bar = {
  key(name: string): void
  typed(edit: Edit): void
}

/** What is typed in the line at the bottom: a filter, which is seen at once, or a command, which is obeyed with Enter. */
export function makeBar(
  console: Console,
  { host, data, tools, toast }: Pick<PressOptions, 'host' | 'data' | 'tools' | 'toast'>,
): Bar {
  const { change, state } = console

  function key(name: string): void {
    const { bar } = state()
    if (bar === undefined) return
    const isFilter = bar.kind === 'filter'
    if (name === 'esc') {
      change({ type: 'closeBar' })
      if (isFilter) change({ type: 'filter', filter: '', isTaken: true })
      return
    }
    if (name === 'enter') {
      change({ type: 'closeBar' })
      return isFilter ? change({ type: 'filter', filter: bar.edit.text.trim(), isTaken: true }) : obey(bar.edit.text)
    }
    if (name === 'tab' || name === 'shift-tab') return isFilter ? undefined : complete(name === 'tab' ? 1 : -1)
    // The colon or the slash goes as it came.
    if (name === 'backspace' && bar.edit.text === '') return change({ type: 'closeBar' })
    const edit = edited(bar.edit, name)
    if (edit !== undefined) typed(edit)
  }

  /** The line at the bottom is another; what it filters is seen while it is typed. */
  function typed(edit: Edit): void {
    change({ type: 'typed', edit })
    if (state().bar?.kind === 'filter') change({ type: 'filter', filter: edit.text.trim(), isTaken: false })
  }

  /** Tab, and Tab again: each of the lines that it could become. */
  function complete(by: 1 | -1): void {
    const { bar } = state()
    if (bar === undefined) return
    const { list, at } = bar.tabs ?? { list: candidates(bar.edit.text, console.screens(), namesFor), at: by - 1 }
    const count = list.length
    if (count > 0)
      change({ type: 'tabs', list, at: bar.tabs === undefined ? Math.max(0, at) : (at + by + count) % count })
  }

  /** What can be named behind a word: what rows are called that were read for any screen, then their ids. */
  function namesFor(word: string): readonly string[] {
    if (word === 'profile') return host.profiles()
    if (word === 'as') return HALVES
    const rows = console.screens().flatMap((screen) => data.known(`${screen.name}?`).map((row) => ({ screen, row })))
    const names = rows.flatMap(({ screen, row }) => screen.names?.(row)[word] ?? [])
    return [...names, ...rows.flatMap(({ screen, row }) => (screen.noun === word ? [screen.id(row)] : []))]
  }

  function obey(text: string): void {
    const command = parseBar(text, console.screens())
    if (command.kind === 'quit') host.quit()
    else if (command.kind === 'help') tools.show('Commands', commandLines(console.screens()))
    else if (command.kind === 'refresh') data.refresh()
    else if (command.kind === 'screen')
      tools.go(command.name, command.filter === undefined ? {} : { filter: command.filter })
    else if (command.kind === 'find') void find(command.name, command.text)
    else if (command.kind === 'profile') void asProfile(command.profile)
    else if (command.kind === 'half') void asHalf(command.half)
    else toast({ text: hiddenText(text) ?? command.problem, tone: 'bad' })
  }

  /** Where it names a screen of another role, whose that is. */
  function hiddenText(text: string): string | undefined {
    const [word] = text.trim().split(/\s+/)
    const hidden = console.allScreens().find(({ name, noun }) => name === word || noun === word)
    const isShown = hidden !== undefined && console.screens().some(({ name }) => name === hidden.name)
    return hidden === undefined || isShown ? undefined : whyHidden(hidden, console.rights())
  }

  /** Who has gone on to something else while it was looked for is left there. */
  async function find(name: ScreenName, text: string): Promise<void> {
    const screen = console.screens().find((each) => each.name === name)
    const { client } = tools
    const open = viewOf(state()).open?.id
    const where = state().screen
    toast({ text: `looking for ${text} ...`, tone: 'info' })
    try {
      const id = (await screen?.detail?.find?.(client, text, tools.who.kind)) ?? text
      const { modal, bar, screen: now } = state()
      const isHere = modal === undefined && bar === undefined && now === where && viewOf(state()).open?.id === open
      if (isHere && tools.client === client) tools.go(name, { open: id })
      else toast({ text: `found: ${screen?.noun ?? name} ${id}`, tone: 'info' })
    } catch (error) {
      toast({ text: errorText(error), tone: 'bad' })
    }
  }

  async function asProfile(profile: string): Promise<void> {
    try {
      await host.profile(profile)
      toast({ text: `now as profile ${profile}`, tone: 'good' })
    } catch (error) {
      toast({ text: errorText(error), tone: 'bad' })
    }
  }

  async function asHalf(half: Half): Promise<void> {
    const name = half === 'platform' ? 'operator' : 'merchant'
    if (console.rights().who.kind === half) return toast({ text: `you are the ${name}`, tone: 'info' })
    try {
      await host.half(half)
      toast({ text: `now as the ${name}`, tone: 'good' })
    } catch (error) {
      toast({ text: errorText(error), tone: 'bad' })
    }
  }

  return { key, typed }
}
