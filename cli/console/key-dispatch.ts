import type { Acting, Pending } from './action-runner.ts'
import { errorText } from './action-runner.ts'
import { makeBar } from './bar.ts'
import { readingLines } from './reading.ts'
import type { Console } from './console.ts'
import type { Data } from './resource-cache.ts'
import type { Host } from './host.ts'
import { inserted } from './model/edit.ts'
import { canMark, fitsRow, whyHidden, whyUnfit } from './model/allowed.ts'
import { frameAction } from './model/keys.ts'
import type { FrameAction } from './model/keys.ts'
import { givenSoFar, pasted, rewritten, stepped } from './model/modal.ts'
import type { Form } from './model/modal.ts'
import { canGoBack } from './model/state.ts'
import type { Toast } from './model/state.ts'
import type { Move } from './model/view.ts'
import type { ScreenKey, Tools } from './screen.ts'
import { startOfShown } from './shown.ts'
import { laidOf } from './table-lines.ts'

export type PressOptions = { host: Host; acting: Acting; data: Data; tools: Tools; toast(toast: Toast): void }

export type Press = { key(name: string): void; paste(text: string): void }

const MOVES: ReadonlySet<string> = new Set<Move>(['up', 'down', 'pageUp', 'pageDown', 'first', 'last'])
function isMove(action: FrameAction): action is FrameAction & Move {
  return MOVES.has(action)
}

/** What each key does, where the user is: in a form, in the line at the bottom, or on a screen. */
export function makePress(console: Console, { host, acting, data, tools, toast }: PressOptions): Press {
  const { change, state } = console
  const inBar = makeBar(console, { host, data, tools, toast })

  function key(name: string): void {
    if (name === 'ctrl-c') return host.quit()
    if (name === 'ctrl-z') return void stop()
    const { modal, bar } = state()
    if (modal !== undefined) return inModal(name)
    if (bar !== undefined) return inBar.key(name)
    if (isClosing(name)) return change({ type: 'toast', toast: undefined })
    if (state().toast !== undefined) change({ type: 'toast', toast: undefined })
    const own = console.seen().keys.find((each) => each.key === name)
    if (own !== undefined) return startKey(own)
    const screen = console.screens().find((each) => each.key === name)
    if (screen !== undefined) return change({ type: 'go', screen: screen.name })
    const action = frameAction(name)
    if (action !== undefined) return onFrame(action)
    const why = whyNothing(name)
    if (why !== undefined) toast({ text: why, tone: 'info' })
  }

  /** Whether Esc only closes what went wrong: whoever reads it does not mean to lose the marks. */
  function isClosing(name: string): boolean {
    const { view, opened } = console.seen()
    return name === 'esc' && state().toast?.tone === 'bad' && opened === undefined && view.marks.size > 0
  }

  /** Of a key that does nothing here, why that is so. */
  function whyNothing(name: string): string | undefined {
    const { screen, row, marked, opened } = console.seen()
    const hidden = console.allScreens().find((each) => each.key === name)
    if (hidden !== undefined) return whyHidden(hidden, console.rights())
    return whyUnfit(screen, console.rights(), { name, on: opened === undefined ? 'list' : 'detail', row, marked })
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
    if (name === 'ctrl-y') return copyCommand(modal)
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

  /** The command that does the same, whole, for each row: what is shown of it is cut and wrapped. */
  function copyCommand(form: Form): void {
    const script = console.script(givenSoFar(form))
    copy(script)
    const count = script.split('\n').length
    change({ type: 'modal', modal: { ...form, note: count === 1 ? 'copied the command' : `copied ${count} commands` } })
  }

  /** OSC 52: the terminal puts it on the clipboard, also over SSH. */
  function copy(text: string): void {
    host.write(`\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`)
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
    const { screen, row, marked } = console.seen()
    if (own.ofShown !== undefined) return void startOfShown(console, own, { acting, tools, toast })
    if (own.needs === 'nothing') return acting.start({ screen, key: own, rows: [row] })
    const isMany = marked.length > 0 && own.needs !== 'one'
    const pending: Pending = isMany
      ? { screen, key: own, rows: marked.filter((each) => fitsRow(own, each)), marked: marked.length }
      : { screen, key: own, rows: [row] }
    acting.start(pending)
    const { modal } = state()
    if (modal?.kind === 'form' && modal.fields[modal.at]?.opens === true) void inEditor()
  }

  function onFrame(action: FrameAction): void {
    const { screen, view, row, ids, feed, listHeight, bodyHeight, opened } = console.seen()
    if (isMove(action)) {
      // Before anything was read there is nowhere to go: what was selected and followed still is.
      if (opened === undefined && feed.readAt === undefined && action !== 'first') return
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
      const { most } = laidOf(console.seen())
      if (view.wide) change({ type: 'sideways', by: action === 'left' ? -1 : 1, most })
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
      copy(id)
      toast({ text: `copied ${id}`, tone: 'info' })
    } else if (action === 'wide') change({ type: 'wide' })
    else if (action === 'inbox') tools.go('inbox')
    else if (action === 'login' && state().signedOut) void signIn()
  }

  async function signIn(): Promise<void> {
    try {
      const isIn = await host.login()
      toast(isIn ? { text: 'signed in', tone: 'good' } : { text: 'the login was given up', tone: 'info' })
    } catch (error) {
      toast({ text: errorText(error), tone: 'bad' })
    }
  }

  async function stop(): Promise<void> {
    try {
      if (!(await host.stop())) toast({ text: 'ctrl-z: no shell is here to stop for', tone: 'info' })
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
