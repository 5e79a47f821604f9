import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'

const LONDON = 'Europe/London'
const MOMENT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'long', timeZone: LONDON })
const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: LONDON })

/** A time in London, in words for people, and in ISO 8601 for programs. */
export function when(instant: string): Html {
  return html`<time datetime="${instant}">${MOMENT.format(new Date(instant))}</time>`
}

/** The date of a time in London. */
export function dayOf(instant: string): Html {
  return html`<time datetime="${instant}">${DAY.format(new Date(instant))}</time>`
}
