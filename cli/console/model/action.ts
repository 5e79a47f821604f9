import { isUuid } from '../../../src/lib/ids.ts'
import type { Client } from '../../client/call.ts'
import type { Who } from '../../client/auth/acting-side.ts'
import type { ScreenName } from '../screen-names.ts'
import type { Ask, Screen, ScreenKey } from '../screen.ts'
import { formOf, refused } from './modal.ts'
import type { Form, Modal } from './modal.ts'
import type { State } from './state.ts'

/** What a key of a screen has been pressed for: the rows as they were then, whatever comes in the meantime. */
export type Pending = {
  screen: Screen
  key: ScreenKey<unknown>
  rows: readonly unknown[]
  /** Of marked ones, how many there are: those it can't be done to are left out. */
  marked?: number
  /** Who asked, and of which service: rows of one are no matter of another profile. */
  by: { client: Client; who: Who }
  /** The idempotency keys of the rows, by their ids: the same at every attempt. */
  attempts: Readonly<Record<string, string>>
}

/** What is being done right now, in words, and to which row; and how many of all were tried before. */
export type UnderWay = {
  what: string
  row: string
  done: number
  failed: number
  total: number
  /** Whether it changes something: what only reads leaves nothing open. */
  isWrite: boolean
  /** Since when, in milliseconds. */
  since?: number
}

/** What is reported where the console ends before the answer has come, with the command that shows what came of it. */
export function leftText({ what, row, done, failed, total }: Omit<UnderWay, 'isWrite'>, kind: Who['kind']): string {
  const tried = done + failed
  const before = `${tried} of ${total} ${tried === 1 ? 'was' : 'were'} tried before`
  const of = total === 1 ? '' : `; ${before}, and the rest was not begun`
  // What has no id of its own, such as a registration that made no merchant, has no story.
  const next = isUuid(row) ? `\nTry: svc explain ${row}${kind === 'platform' ? ' --platform' : ''}` : ''
  return `Not known: "${what}" was being sent when the console ended${of}${next}`
}

/** What came of a key that was pressed for one row or many. */
export type Finished = {
  screen: ScreenName
  /** To how many rows it was to be done. */
  total: number
  /** What is said of those it was done to, and which they are. */
  done: readonly string[]
  doneIds: readonly string[]
  /** What went wrong, in words; `fields` is what the service has named. */
  failed: readonly { id: string; text: string; fields: readonly string[] }[]
  isSignedOut: boolean
}

const SHOWN_MAX = 3

/** What is shown of it. What was typed into a form is still there where it failed, for another try. */
export function finished(
  modal: Modal | undefined,
  { total, done, failed }: Finished,
): Pick<State, 'modal'> & Partial<Pick<State, 'toast'>> {
  const [first] = failed
  if (first !== undefined && total === 1) {
    if (modal?.kind === 'form') return { modal: refused(modal, first.text, first.fields) }
    return { modal, toast: { text: first.text, tone: 'bad' } }
  }
  const left = modal?.kind === 'form' ? undefined : modal
  if (first !== undefined) {
    const title = `${done.length} done, ${failed.length} failed`
    return { modal: { kind: 'text', title, lines: failed.map(({ id, text }) => `${id}: ${text}`), top: 0 } }
  }
  if (done.length === 0) return { modal: left }
  const more = done.length > SHOWN_MAX ? ` and ${done.length - SHOWN_MAX} more` : ''
  return { modal: left, toast: { text: `${done.slice(0, SHOWN_MAX).join(', ')}${more}`, tone: 'good' } }
}

/** The form of an action. What can't be undone has to be typed in live mode, for one or for many (as in confirm.ts). */
export function formFor({ screen, key, rows, marked = rows.length }: Pending, asked: Ask, live: boolean): Form {
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
