import { confirmAction, scriptText, startAction } from './actions.ts'
import { barKey, typedInBar } from './bar.ts'
import type { Console } from './console.ts'
import { errorText, toolsOf } from './tools.ts'
import { copy, frameKey, moveBy, runFrameKey } from './frame-keys.ts'
import { fitsRow, whyHidden, whyUnfit } from './model/allowed.ts'
import { gone } from './model/changes.ts'
import { inserted } from './model/edit.ts'
import { givenSoFar, pasted, rewritten, stepped } from './model/modal.ts'
import type { Form, Reading } from './model/modal.ts'
import { screensOf } from './model/state.ts'
import type { ScreenKey } from './screen.ts'
import { shownOf } from './view-model.ts'
import type { Key } from 'ink'

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

export function pressKey(console: Console, name: string): void {
  if (name === 'ctrl-c') return console.host.quit()
  const { modal, bar } = console.state()
  if (modal?.kind === 'form') return inForm(console, modal, name)
  if (modal !== undefined) return inReading(console, modal, name)
  if (bar !== undefined) return barKey(console, name)
  if (isClosing(console, name)) return console.update({ toast: undefined })
  if (console.state().toast !== undefined) console.update({ toast: undefined })
  const own = console.seen().keys.find((each) => each.key === name)
  if (own !== undefined) return startKey(console, own)
  const group = screensOf(console.state()).filter((each) => each.key === name)
  const screen = group[(group.findIndex((each) => each.name === console.state().screen) + 1) % group.length]
  if (screen !== undefined) return console.update(gone(screen.name))
  const shared = frameKey(name)
  if (shared !== undefined) return runFrameKey(console, shared)
  const why = whyNothing(console, name)
  if (why !== undefined) console.toast({ text: why, tone: 'info' })
}

/** Whether Esc only closes an error message, and keeps the marks. */
function isClosing(console: Console, name: string): boolean {
  const { view, opened } = console.seen()
  return name === 'esc' && console.state().toast?.tone === 'bad' && opened === undefined && view.marks.size > 0
}

function whyNothing(console: Console, name: string): string | undefined {
  const { screen, row, marked, opened } = console.seen()
  const hidden = console.state().screens.find((each) => each.key === name)
  if (hidden !== undefined) return whyHidden(hidden, console.state().session.rights)
  return whyUnfit(screen, console.state().session.rights, {
    name,
    on: opened === undefined ? 'list' : 'detail',
    row,
    marked,
  })
}

function inReading(console: Console, { isGoing, isOnce }: Reading, name: string): void {
  const move = frameKey(name)?.move
  if (move !== undefined) return moveBy(console, move)
  // Work in progress is stopped by Esc and q alone, not by keys of reading.
  const closing = isOnce === true ? ['esc'] : isGoing === true ? ['esc', 'q'] : ['esc', 'q', 'enter', '?', 'space']
  if (closing.includes(name)) console.update({ modal: undefined })
}

function inForm(console: Console, modal: Form, name: string): void {
  if (name === 'ctrl-y') return copyCommand(console, modal)
  const step = stepped(modal, name)
  if ('form' in step) return console.update({ modal: step.form })
  if ('done' in step) return confirmAction(console, step.done)
  if ('editor' in step) return void inEditor(console)
  console.update({ modal: undefined })
  console.toast({ text: 'nothing was changed', tone: 'info' })
}

/** The command that does the same, whole, for each row: what is shown of it is cut and wrapped. */
function copyCommand(console: Console, form: Form): void {
  const script = scriptText(console, givenSoFar(form))
  copy(console, script)
  const count = script.split('\n').length
  console.update({ modal: { ...form, note: count === 1 ? 'copied the command' : `copied ${count} commands` } })
}

async function inEditor(console: Console): Promise<void> {
  const { modal } = console.state()
  if (modal?.kind !== 'form') return
  try {
    const text = await console.host.edit(modal.edit.text)
    const now = console.state().modal
    if (text === undefined || now?.kind !== 'form') return
    console.update({ modal: rewritten(now, text) })
  } catch (error) {
    const now = console.state().modal
    if (now?.kind === 'form') console.update({ modal: { ...now, problem: errorText(error) } })
  }
}

function startKey(console: Console, own: ScreenKey<unknown>): void {
  const { screen, row, marked } = console.seen()
  if (own.counted !== undefined) return void startCounted(console, own)
  if (own.needs === 'nothing') return startAction(console, { screen, key: own, rows: [row] })
  const isMany = marked.length > 0 && own.needs !== 'one'
  const rows = isMany ? marked.filter((each) => fitsRow(own, each)) : [row]
  startAction(console, { screen, key: own, rows, ...(isMany ? { marked: marked.length } : {}) })
}

export function pasteText(console: Console, text: string): void {
  const { modal, bar } = console.state()
  if (modal?.kind === 'form') console.update({ modal: pasted(modal, text) })
  else if (modal === undefined && bar !== undefined) typedInBar(console, inserted(bar.edit, text))
}

/** Finds out what a key concerns that applies to all that is shown, and asks about just that. */
async function startCounted(console: Console, own: ScreenKey<unknown>): Promise<void> {
  const { screen, row, view, ...seen } = console.seen()
  const { client, who } = toolsOf(console)
  console.toast({ text: `${own.label} ...`, tone: 'info' })
  const isSame = (): boolean => console.state().session.client === client
  try {
    const made = await own.counted?.make(shownOf({ view, ...seen }), { client, who })
    const { modal, bar } = console.state()
    const now = console.seen()
    const isHere = modal === undefined && bar === undefined && now.screen === screen && now.opened === undefined
    if (made === undefined || !isHere || now.view.filter !== view.filter || !isSame()) return
    if (typeof made === 'string') return console.toast({ text: made, tone: 'info' })
    console.update({ toast: undefined })
    startAction(console, { screen, key: made.key, rows: made.rows ?? [row] })
  } catch (error) {
    if (isSame()) console.toast({ text: errorText(error), tone: 'bad' })
  }
}
