import type { Pending } from './action-runner.ts'
import { formOf } from './model/modal.ts'
import type { Form } from './model/modal.ts'
import type { Ask } from './screen.ts'

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
