import { randomUUID } from 'node:crypto'
import { CliError } from '../base/errors.ts'
import type { Console } from './console.ts'
import { errorText, fieldsOf, isSignedOut, toolsOf, wantsFactor } from './tools.ts'
import { isUuid } from '../../src/lib/ids.ts'
import type { Who } from '../client/auth/acting-side.ts'
import { formOf } from './model/modal.ts'
import type { Form, FormValues } from './model/modal.ts'
import { feedOf, listKey, patched, refreshed } from './model/cache.ts'
import { begun, ended } from './model/changes.ts'
import { viewOf } from './model/state.ts'
import type { Finished, Pending, UnderWay } from './model/state.ts'
import type { Ask, Screen, ScreenKey } from './screen.ts'

export function startAction(console: Console, action: Omit<Pending, 'by' | 'attempts'>): void {
  const { session, underWay } = console.state()
  if (underWay !== undefined)
    return console.toast({ text: 'one thing at a time: something is still being done', tone: 'info' })
  const by = { client: session.client, who: session.rights.who }
  const attempts = Object.fromEntries(action.rows.map((row) => [rowId(action.screen, row), randomUUID()]))
  const pending: Pending = { ...action, by, attempts }
  console.update({ pending })
  const question = action.key.ask?.(action.rows, by.who)
  if (question === undefined) void run(console, pending, {})
  else console.update({ modal: formFor(pending, question, !session.rights.sandbox) })
}

export function confirmAction(console: Console, given: FormValues): void {
  const { pending, underWay } = console.state()
  if (pending !== undefined && underWay === undefined) void run(console, pending, given)
}

function rowId(screen: Screen, row: unknown): string {
  return row === undefined ? '' : screen.id(row)
}

async function run(console: Console, pending: Pending, given: FormValues): Promise<void> {
  const { screen, key, rows, by } = pending
  const { modal } = console.state()
  const what = modal?.kind === 'form' ? modal.title : key.label
  const done: string[] = []
  const doneIds: string[] = []
  const failed: Finished['failed'][number][] = []
  let isOut = false
  let isTooOld = false
  for (const row of rows) {
    const id = rowId(screen, row)
    if (console.isStopped() || isOut || isTooOld) break
    const shownId = key.needs === 'nothing' ? '' : id
    const counts = { done: doneIds.length, failed: failed.length, total: rows.length }
    console.update(begun({ what, row: shownId, ...counts, isWrite: key.writes === true }))
    const takeBack = shownAtOnce(console, { screen, id, key }, given)
    try {
      const idempotencyKey = console.state().pending?.attempts[id] ?? randomUUID()
      const said = await key.run(row, given, { ...toolsOf(console, by), idempotencyKey })
      if (said !== undefined) done.push(said)
      doneIds.push(id)
    } catch (error) {
      takeBack()
      failed.push({ id, text: console.typed(errorText(error)), fields: fieldsOf(error) })
      // The bank has refused it for good: another try is another refund.
      if (error instanceof CliError && error.code === 'REFUND_REFUSED') forgetAttempt(console, id)
      // The rest needs a user who is signed in, and not too long ago.
      isOut = isSignedOut(error)
      isTooOld = wantsFactor(error)
    }
  }
  const signIn = { isSignedOut: isOut, wantsFactor: isTooOld }
  console.update(ended({ screen: screen.name, total: rows.length, done, doneIds, failed, ...signIn }))
  console.update(refreshed(console.now()))
}

function forgetAttempt(console: Console, id: string): void {
  const { pending } = console.state()
  if (pending === undefined) return
  console.update({ pending: { ...pending, attempts: { ...pending.attempts, [id]: randomUUID() } } })
}

function shownAtOnce(
  console: Console,
  { screen, id, key: { optimistic } }: { screen: Screen; id: string; key: ScreenKey<unknown> },
  given: FormValues,
): () => void {
  const state = console.state()
  const key = listKey(screen, viewOf(state, screen.name))
  const before = feedOf(state.cache, key).rows.find((each) => screen.id(each) === id)
  if (optimistic === undefined || before === undefined) return () => undefined
  const put = (row: unknown): void => console.update(patched(key, { id, row, at: console.now() }))
  put(optimistic(before, given))
  return () => put(before)
}

export function commandText(console: Console, given: FormValues): string {
  const { pending } = console.state()
  if (pending === undefined) return ''
  const { key, rows, by } = pending
  const first = commandTyped(console, key.command(rows[0], given, by.who))
  return rows.length > 1 ? `${first}\n... and ${rows.length - 1} more like it, one for each row` : first
}

/** The whole of it, one line for each row: for copying. */
export function scriptText(console: Console, given: FormValues): string {
  const { pending } = console.state()
  if (pending === undefined) return ''
  const { key, rows, by } = pending
  return rows.map((row) => commandTyped(console, key.command(row, given, by.who))).join('\n')
}

/** Commands as they have to be typed; a user's own text stays as it is, from the first quotation mark on. */
function commandTyped(console: Console, text: string): string {
  const lines = text.split('\n').map((line) => {
    const at = line.includes("'") ? line.indexOf("'") : line.length
    return `${console.typed(line.slice(0, at))}${line.slice(at)}`
  })
  return lines.join('\n')
}

/** The form of an action. What can't be undone has to be typed in live mode, for one or for many (as in confirm.ts). */
function formFor({ screen, key, rows, marked = rows.length }: Pending, asked: Ask, live: boolean): Form {
  const words = (asked.danger ?? []).flatMap((word) => (word === null || word === '' ? [] : [word]))
  // Many are confirmed by their number.
  const accepted = rows.length > 1 ? [String(rows.length)] : words
  const typed = live && words.length > 0
  return formOf({
    key: key.key,
    title: asked.what,
    about: [...(marked > rows.length ? [leftOutText(rows.length, marked)] : []), ...(asked.about ?? [])],
    ids: rows.map((row) => (row === undefined ? '' : screen.id(row))),
    live,
    last: asked.last,
    act: asked.act ?? (() => (rows.length > 1 ? `${key.label} ${rows.length}` : key.label)),
    fields: [
      ...(asked.fields ?? []),
      ...(typed
        ? [{ name: 'confirmed', label: `LIVE: type ${accepted.join(' or ')}`, kind: 'typed' as const, words: accepted }]
        : []),
    ],
  })
}

function leftOutText(count: number, marked: number): string {
  const rest = marked - count
  return `${count} of the ${marked} that are marked; ${rest} can't be, and ${rest === 1 ? 'is' : 'are'} left out.`
}

/** What is reported where the console ends before the answer has come, with the command that shows what came of it. */
export function leftText({ what, row, done, failed, total }: Omit<UnderWay, 'isWrite'>, kind: Who['kind']): string {
  const tried = done + failed
  const before = `${tried} of ${total} ${tried === 1 ? 'was' : 'were'} tried before`
  const of = total === 1 ? '' : `; ${before}, and the rest was not begun`
  // What has no id of its own, such as a registration that made no merchant, has no timeline.
  const next = isUuid(row) ? `\nTry: svc explain ${row}${kind === 'platform' ? ' --platform' : ''}` : ''
  return `Not known: "${what}" was being sent when the console ended${of}${next}`
}
