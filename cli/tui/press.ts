import type { Acting, Pending } from './acting.ts'
import { errorText } from './acting.ts'
import { makeBar } from './bar.ts'
import { readingLines } from './reading.ts'
import type { Console } from './console.ts'
import type { Data } from './data.ts'
import type { Host } from './host.ts'
import { inserted } from './model/edit.ts'
import { canMark, whyHidden } from './model/allowed.ts'
import { frameAction } from './model/keys.ts'
import type { FrameAction } from './model/keys.ts'
import { pasted, rewritten, stepped } from './model/modal.ts'
import { canGoBack } from './model/state.ts'
import type { Toast } from './model/state.ts'
import type { Move } from './model/view.ts'
import type { ScreenKey, Tools } from './screen.ts'

export type PressOptions = { host: Host; acting: Acting; data: Data; tools: Tools; toast(toast: Toast): void }

export type Press = { key(name: string): void; paste(text: string): void }

const MOVES: ReadonlySet<string> = new Set<Move>(['up', 'down', 'pageUp', 'pageDown', 'first', 'last'])
/** How far the wide form scrolls sideways. */
const SIDEWAYS = 10

function isMove(action: FrameAction): action is FrameAction & Move {
  return MOVES.has(action)
}

/** What each key does, where the user is: in a form, in the line at the bottom, or on a screen. */
export function makePress(console: Console, { host, acting, data, tools, toast }: PressOptions): Press {
  const { change, state } = console
  const inBar = makeBar(console, { host, data, tools, toast })

  function key(name: string): void {
    if (name === 'ctrl-c') return host.quit()
    const { modal, bar } = state()
    if (modal !== undefined) return inModal(name)
    if (bar !== undefined) return inBar.key(name)
    if (state().toast !== undefined) change({ type: 'toast', toast: undefined })
    const own = console.seen().keys.find((each) => each.key === name)
    if (own !== undefined) return startKey(own)
    const screen = console.screens().find((each) => each.key === name)
    if (screen !== undefined) return change({ type: 'go', screen: screen.name })
    const action = frameAction(name)
    if (action !== undefined) return onFrame(action)
    const hidden = console.allScreens().find((each) => each.key === name)
    if (hidden !== undefined) toast({ text: whyHidden(hidden, console.rights()), tone: 'info' })
  }

  function inModal(name: string): void {
    const { modal } = state()
    if (modal === undefined) return
    if (modal.kind !== 'form') {
      const action = frameAction(name)
      if (action !== undefined && isMove(action)) {
        const { lines, height } = readingLines(console)
        return change({ type: 'scroll', move: action, count: lines.length, height })
      }
      // What goes on is stopped by nobody who just reads on.
      const isGoing = modal.kind === 'text' && modal.isGoing === true
      if ((isGoing ? ['esc', 'q'] : ['esc', 'q', 'enter', '?', 'space']).includes(name))
        change({ type: 'modal', modal: undefined })
      return
    }
    const step = stepped(modal, name)
    if ('form' in step) {
      change({ type: 'modal', modal: step.form })
      const isNext = step.form.at > modal.at && step.form.fields[step.form.at]?.opens === true
      return isNext ? void inEditor() : undefined
    }
    if ('done' in step) return acting.confirm(step.done)
    if ('editor' in step) return void inEditor()
    change({ type: 'modal', modal: undefined })
    toast({ text: 'nothing was changed', tone: 'info' })
  }

  /** What is typed goes on in the user's editor, and comes back. */
  async function inEditor(): Promise<void> {
    const { modal } = state()
    if (modal?.kind !== 'form') return
    try {
      const text = await host.edit(modal.edit.text)
      const now = state().modal
      if (text === undefined || now?.kind !== 'form') return
      change({ type: 'modal', modal: rewritten(now, text) })
    } catch (error) {
      const now = state().modal
      if (now?.kind === 'form') change({ type: 'modal', modal: { ...now, problem: errorText(error) } })
    }
  }

  function startKey(own: ScreenKey<unknown>): void {
    const { screen, row, rows, view, opened } = console.seen()
    if (own.needs === 'nothing') return acting.start({ screen, key: own, rows: [row] })
    const isMany = opened === undefined && view.marks.size > 0 && own.needs !== 'one'
    const marked = rows.filter((each) => view.marks.has(screen.id(each)) && own.fits?.(each) !== false)
    const pending: Pending = isMany
      ? { screen, key: own, rows: marked, marked: view.marks.size }
      : { screen, key: own, rows: [row] }
    if (pending.rows.length === 0) return toast({ text: `${own.label}: none of the marked rows can be`, tone: 'bad' })
    acting.start(pending)
    const { modal } = state()
    if (modal?.kind === 'form' && modal.fields[modal.at]?.opens === true) void inEditor()
  }

  function onFrame(action: FrameAction): void {
    const { screen, view, row, ids, listHeight, bodyHeight, opened } = console.seen()
    if (isMove(action)) {
      if (opened === undefined) return change({ type: 'move', move: action, ids, height: listHeight })
      return change({ type: 'scroll', move: action, count: opened.lines.length, height: bodyHeight })
    }
    if (action === 'open') {
      if (opened !== undefined || row === undefined) return
      if (screen.open !== undefined) return screen.open(row, tools)
      if (screen.detail !== undefined) change({ type: 'open', id: screen.id(row) })
    } else if (action === 'mark') {
      const id = ids[view.index]
      if (opened !== undefined || id === undefined || !canMark(screen, console.rights())) return
      change({ type: 'mark', id })
      change({ type: 'move', move: 'down', ids, height: listHeight })
    } else if (action === 'markAll') {
      if (opened === undefined && canMark(screen, console.rights())) change({ type: 'markAll', ids })
    } else if (action === 'left' || action === 'right') {
      if (view.wide) change({ type: 'sideways', by: action === 'left' ? -SIDEWAYS : SIDEWAYS })
    } else if (action === 'next' || action === 'previous') {
      const names = console.screens().map(({ name }) => name)
      const step = names.indexOf(screen.name) + (action === 'next' ? 1 : names.length - 1)
      change({ type: 'go', screen: names[step % names.length] ?? screen.name })
    } else rest(action)
  }

  function rest(action: FrameAction): void {
    const { screen, row, opened } = console.seen()
    if (action === 'back') change({ type: 'back' })
    else if (action === 'leave') {
      if (canGoBack(state())) change({ type: 'back' })
      else host.quit()
    } else if (action === 'quit') host.quit()
    else if (action === 'command' || action === 'filter') {
      if (action === 'command' || opened === undefined) change({ type: 'bar', kind: action })
    } else if (action === 'help') change({ type: 'modal', modal: { kind: 'help', top: 0 } })
    else if (action === 'refresh') {
      host.repaint()
      data.refresh()
    } else if (action === 'pause') {
      change({ type: 'pause' })
      data.pause(state().paused)
    } else if (action === 'copy' && row !== undefined) {
      const id = screen.copies?.(row) ?? screen.id(row)
      // OSC 52: the terminal puts it on the clipboard, also over SSH.
      host.write(`\u001b]52;c;${Buffer.from(id).toString('base64')}\u0007`)
      toast({ text: `copied ${id}`, tone: 'info' })
    } else if (action === 'wide') change({ type: 'wide' })
    else if (action === 'inbox') tools.go('inbox')
    else if (action === 'login' && state().signedOut) void signIn()
  }

  async function signIn(): Promise<void> {
    try {
      await host.login()
      toast({ text: 'signed in', tone: 'good' })
    } catch (error) {
      toast({ text: errorText(error), tone: 'bad' })
    }
  }

  return {
    key,
    paste(text) {
      const { modal, bar } = state()
      if (modal?.kind === 'form') change({ type: 'modal', modal: pasted(modal, text) })
      else if (modal === undefined && bar !== undefined) inBar.typed(inserted(bar.edit, text))
    },
  }
}
