import { randomUUID } from 'node:crypto'
import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { formFor } from './action-form.ts'
import { changedLines } from './stale-rows.ts'
import type { RowNow } from './stale-rows.ts'
import { refused } from './model/modal.ts'
import type { Given, Modal } from './model/modal.ts'
import type { Toast } from './model/state.ts'
import type { Doing, Screen, ScreenKey, Tools } from './screen.ts'
import { leftText } from './under-way.ts'
import type { UnderWay } from './under-way.ts'

export type ActingOptions = {
  live: boolean
  tools: Tools
  /** A text with its commands as they have to be typed to reach the same service as the same one. */
  typed(text: string): string
  showModal(modal: Modal | undefined): void
  modal(): Modal | undefined
  toast(toast: Toast): void
  patch(screen: Screen, id: string, change: (row: unknown) => unknown): () => void
  refresh(): void
  /** What is done is marked no more. */
  unmark(screen: Screen, ids: readonly string[]): void
  onSignedOut(): void
}

/** What a key of a screen has been pressed for: the rows as they were then, whatever comes in the meantime. */
export type Pending = {
  screen: Screen
  key: ScreenKey<unknown>
  rows: readonly unknown[]
  /** Of marked ones, how many there are: those it can't be done to are left out. */
  marked?: number
}

export type Acting = {
  /** Asks first, or does it at once. */
  start(pending: Pending): void
  /** The form has been answered. */
  confirm(given: Given): void
  /** The command that would do the same, with what has been answered so far. */
  command(given: Given): string
  /** The whole of it, one line for each row: for copying. */
  script(given: Given): string
  /** Rows have come: the form says what is another by now than it was when it was opened. */
  look(now: RowNow): void
  /** Begins nothing more. What was being done is told, for nobody will hear what came of it; undefined where nothing was. */
  stop(): string | undefined
}

const SHOWN_MAX = 3

/** Runs the keys of screens: asks, does it to one row after the other, and tells how it went. */
export function makeActing(options: ActingOptions): Acting {
  let pending: Pending | undefined
  let isRunning = false
  let isStopped = false
  /** What is being done right now, for whoever leaves meanwhile. */
  let doingNow: UnderWay | undefined
  let keys = new Map<string, string>()
  /** Who asked, and of which service: rows of one are no matter of another profile. */
  let asked: Pick<Tools, 'client' | 'who'> | undefined

  function start(next: Pending): void {
    if (isRunning) return options.toast({ text: 'one thing at a time: something is still being done', tone: 'info' })
    pending = next
    keys = new Map()
    const { client, who } = options.tools
    asked = { client, who }
    const question = next.key.ask?.(next.rows, who)
    if (question === undefined) return void run(next, {})
    options.showModal(formFor(next, question, options.live))
  }

  function progress(done: number, failed: number, total: number): void {
    const modal = options.modal()
    if (modal?.kind === 'form') options.showModal({ ...modal, progress: { done, failed, total }, problem: undefined })
  }

  function doing(id: string): Doing {
    const idempotencyKey = keys.get(id) ?? randomUUID()
    keys.set(id, idempotencyKey)
    return Object.create(options.tools, {
      idempotencyKey: { value: idempotencyKey },
      client: { value: asked?.client },
      who: { value: asked?.who },
    })
  }

  async function run({ screen, key, rows }: Pending, given: Given): Promise<void> {
    isRunning = true
    const form = options.modal()
    const what = form?.kind === 'form' ? form.title : key.label
    const done: string[] = []
    const doneIds: string[] = []
    const failed: { id: string; error: unknown }[] = []
    for (const row of rows) {
      progress(done.length, failed.length, rows.length)
      if (isStopped) return
      const id = row === undefined ? '' : screen.id(row)
      // What only reads leaves nothing open.
      if (key.writes === true) {
        const tried = done.length + failed.length
        doingNow = { what, row: key.needs === 'nothing' ? '' : id, done: tried, total: rows.length }
      }
      const { optimistic } = key
      const takeBack =
        optimistic === undefined ? undefined : options.patch(screen, id, (each) => optimistic(each, given))
      try {
        const said = await key.run(row, given, doing(id))
        if (said !== undefined) done.push(said)
        doneIds.push(id)
      } catch (error) {
        takeBack?.()
        failed.push({ id, error })
        // The bank has refused it for good: another try is another refund.
        if (error instanceof CliError && error.code === 'REFUND_REFUSED') keys.delete(id)
        // Nobody who is signed out can do the rest.
        if (isSignedOut(error)) break
      }
    }
    isRunning = false
    doingNow = undefined
    options.unmark(screen, doneIds)
    tell(rows.length, done, failed)
    options.refresh()
  }

  function tell(total: number, done: readonly string[], failed: readonly { id: string; error: unknown }[]): void {
    const modal = options.modal()
    const [first] = failed
    if (failed.some(({ error }) => isSignedOut(error))) options.onSignedOut()
    if (first !== undefined && total === 1) {
      const text = options.typed(errorText(first.error))
      // What was typed is still there, for another try.
      if (modal?.kind === 'form') return options.showModal(refused(modal, text, fieldsOf(first.error)))
      return options.toast({ text, tone: 'bad' })
    }
    if (modal?.kind === 'form') options.showModal(undefined)
    if (first !== undefined) {
      const reasons = failed.map(({ id, error }) => `${id}: ${options.typed(errorText(error))}`)
      return options.showModal({
        kind: 'text',
        title: `${done.length} done, ${failed.length} failed`,
        lines: reasons,
        top: 0,
      })
    }
    if (done.length === 0) return
    const shown = done.slice(0, SHOWN_MAX).join(', ')
    const text = done.length > SHOWN_MAX ? `${shown} and ${done.length - SHOWN_MAX} more` : shown
    options.toast({ text, tone: 'good' })
  }

  /** Commands as they have to be typed; what somebody has written stays so, from the first quotation mark on. */
  function commandTyped(text: string): string {
    const lines = text.split('\n').map((line) => {
      const at = line.includes("'") ? line.indexOf("'") : line.length
      return `${options.typed(line.slice(0, at))}${line.slice(at)}`
    })
    return lines.join('\n')
  }

  return {
    start,
    stop() {
      isStopped = true
      return doingNow === undefined ? undefined : options.typed(leftText(doingNow, options.tools.who.kind))
    },
    confirm(given) {
      if (pending !== undefined && !isRunning) void run(pending, given)
    },
    command(given) {
      if (pending === undefined) return ''
      const { key, rows } = pending
      const first = commandTyped(key.command(rows[0], given, options.tools.who))
      return rows.length > 1 ? `${first}\n... and ${rows.length - 1} more like it, one for each row` : first
    },
    script(given) {
      const { key, rows } = pending ?? { rows: [] }
      return rows.map((row) => commandTyped(key?.command(row, given, options.tools.who) ?? '')).join('\n')
    },
    look(now) {
      const modal = options.modal()
      if (pending === undefined || modal?.kind !== 'form' || modal.progress !== undefined) return
      const changed = changedLines(pending, now)
      if (changed.join('\n') !== (modal.changed ?? []).join('\n')) options.showModal({ ...modal, changed })
    },
  }
}

/** What a refusal is about, as the service calls it. */
function fieldsOf(error: unknown): string[] {
  if (!(error instanceof CliError)) return []
  // What was not even sent is named as the command line names it: `--drop-callback: must be a share`.
  const [, flag] = /^(?:--)?([a-z-]+): /.exec(error.message) ?? []
  const named = error.code === 'USAGE' && flag !== undefined ? [flag.replaceAll('-', '_')] : []
  return [...(error.options.fields ?? []).map(({ path }) => path), ...named]
}

function isSignedOut(error: unknown): boolean {
  return error instanceof CliError && error.options.exit === EXIT.signedOut
}

/** What went wrong, in the service's words, with what to try where it is known. */
export function errorText(error: unknown): string {
  if (!(error instanceof CliError)) return error instanceof Error ? error.message : String(error)
  const { hint } = error.options
  return hint === undefined ? error.message : `${error.message}\nTry: ${hint}`
}
