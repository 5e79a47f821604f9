import { confirmAction, scriptText, startAction } from './actions.ts'
import { barKey, typedInBar } from './bar.ts'
import type { Console } from './console.ts'
import { errorText } from './error-text.ts'
import { refreshed } from './model/cache.ts'
import { canGoBack, gone, inView, scrolled, wentBack } from './model/changes.ts'
import { canMark, fitsRow, whyHidden, whyUnfit } from './model/allowed.ts'
import { editOf, inserted } from './model/edit.ts'
import { frameAction } from './model/keys.ts'
import type { FrameAction } from './model/keys.ts'
import { givenSoFar, pasted, rewritten, stepped } from './model/modal.ts'
import type { Form } from './model/modal.ts'
import { screensOf } from './model/state.ts'
import { allToggled, moved, toggled } from './model/view.ts'
import type { Move } from './model/view.ts'
import { readingLines } from './reading.ts'
import type { ScreenKey } from './screen.ts'
import { attempt, toolsOf } from './tools.ts'
import { shownOf } from './view-model.ts'

const MOVES: ReadonlySet<string> = new Set<Move>(['up', 'down', 'pageUp', 'pageDown', 'first', 'last'])
function isMove(action: FrameAction): action is FrameAction & Move {
  return MOVES.has(action)
}

/** What each key does, where the user is: in a form, in the line at the bottom, or on a screen. */
export function pressKey(console: Console, name: string): void {
  if (name === 'ctrl-c') return console.host.quit()
  if (name === 'ctrl-z') return void stop(console)
  const { modal, bar } = console.state()
  if (modal !== undefined) return inModal(console, name)
  if (bar !== undefined) return barKey(console, name)
  if (isClosing(console, name)) return console.update({ toast: undefined })
  if (console.state().toast !== undefined) console.update({ toast: undefined })
  const own = console.seen().keys.find((each) => each.key === name)
  if (own !== undefined) return startKey(console, own)
  const screen = screensOf(console.state()).find((each) => each.key === name)
  if (screen !== undefined) return console.update(gone(screen.name))
  const action = frameAction(name)
  if (action !== undefined) return onFrame(console, action)
  const why = whyNothing(console, name)
  if (why !== undefined) console.toast({ text: why, tone: 'info' })
}

/** Whether Esc only closes what went wrong: whoever reads it does not mean to lose the marks. */
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

function inModal(console: Console, name: string): void {
  const { modal } = console.state()
  if (modal === undefined) return
  if (modal.kind !== 'form') {
    const action = frameAction(name)
    if (action !== undefined && isMove(action)) {
      const { lines, height } = readingLines(console)
      return console.update(scrolled(action, { count: lines.length, height }))
    }
    // What goes on is stopped by nobody who just reads on.
    const isGoing = modal.kind === 'text' && modal.isGoing === true
    const isOnce = modal.kind === 'text' && modal.isOnce === true
    if ((isOnce ? ['esc'] : isGoing ? ['esc', 'q'] : ['esc', 'q', 'enter', '?', 'space']).includes(name))
      console.update({ modal: undefined })
    return
  }
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

/** OSC 52: the terminal puts it on the clipboard, also over SSH. */
function copy(console: Console, text: string): void {
  console.host.write(`\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`)
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

function onFrame(console: Console, action: FrameAction): void {
  const { screen, view, row, ids, feed, listHeight, bodyHeight, opened } = console.seen()
  if (isMove(action)) {
    // Before anything was read there is nowhere to go: what was selected and followed still is.
    if (opened === undefined && feed.readAt === undefined && action !== 'first') return
    if (opened === undefined)
      return console.update(inView((before) => moved(before, action, { ids, height: listHeight })))
    return console.update(scrolled(action, { count: opened.lines.length, height: bodyHeight }))
  }
  if (action === 'open') {
    if (opened !== undefined || row === undefined) return
    if (screen.open !== undefined) return screen.open(row, toolsOf(console))
    if (screen.detail !== undefined)
      console.update(inView((before) => ({ ...before, open: { id: screen.id(row), top: 0 } })))
  } else if (action === 'mark') {
    const id = ids[view.index]
    if (opened !== undefined || id === undefined || !canMark(screen, console.state().session.rights)) return
    console.update(inView((before) => moved(toggled(before, id), 'down', { ids, height: listHeight })))
  } else if (action === 'markAll') {
    if (opened === undefined && canMark(screen, console.state().session.rights))
      console.update(inView((before) => allToggled(before, ids)))
  } else if (action === 'left' || action === 'right') {
    const { most } = console.seen().laid()
    const left = Math.max(0, Math.min(view.left + (action === 'left' ? -1 : 1), most))
    if (view.wide) console.update(inView((before) => ({ ...before, left })))
  } else if (action === 'next' || action === 'previous') {
    const names = screensOf(console.state()).map(({ name }) => name)
    const step = names.indexOf(screen.name) + (action === 'next' ? 1 : names.length - 1)
    console.update(gone(names[step % names.length] ?? screen.name))
  } else rest(console, action)
}

function rest(console: Console, action: FrameAction): void {
  const { screen, view, row, opened } = console.seen()
  if (action === 'back') console.update(wentBack)
  else if (action === 'leave') {
    if (canGoBack(console.state())) console.update(wentBack)
    else console.host.quit()
  } else if (action === 'quit') console.host.quit()
  else if (action === 'command' || action === 'filter') {
    const edit = editOf(action === 'filter' ? view.filter : '')
    if (action === 'command' || opened === undefined) console.update({ bar: { kind: action, edit } })
  } else if (action === 'help') console.update({ modal: { kind: 'help', top: 0 } })
  else if (action === 'refresh') {
    console.host.repaint()
    console.update(refreshed(console.now()))
  } else if (action === 'pause') {
    console.update({ paused: !console.state().paused })
  } else if (action === 'copy' && row !== undefined) {
    const id = screen.copies?.(row) ?? screen.id(row)
    copy(console, id)
    console.toast({ text: `copied ${id}`, tone: 'info' })
  } else if (action === 'wide') console.update(inView((before) => ({ ...before, wide: !before.wide, left: 0 })))
  else if (action === 'inbox') toolsOf(console).go('inbox')
  else if (action === 'login' && console.state().signedOut) void signIn(console)
}

function signIn(console: Console): Promise<void> {
  return attempt(console, async () =>
    (await console.host.login()) ? { text: 'signed in', tone: 'good' } : { text: 'login cancelled', tone: 'info' },
  )
}

function stop(console: Console): Promise<void> {
  return attempt(console, async () =>
    (await console.host.stop()) ? undefined : { text: 'ctrl-z: no shell is here to stop for', tone: 'info' },
  )
}

/** Text that was pasted, in a form or in the line at the bottom. */
export function pasteText(console: Console, text: string): void {
  const { modal, bar } = console.state()
  if (modal?.kind === 'form') console.update({ modal: pasted(modal, text) })
  else if (modal === undefined && bar !== undefined) typedInBar(console, inserted(bar.edit, text))
}

/** Finds out what a key is about that is done to all that is shown, and asks about just that, if nobody has gone on. */
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
    startAction(console, { screen, key: made, rows: [row] })
  } catch (error) {
    if (isSame()) console.toast({ text: errorText(error), tone: 'bad' })
  }
}
