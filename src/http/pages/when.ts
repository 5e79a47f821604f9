import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'

const LONDON = 'Europe/London'
const MOMENT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'long', timeZone: LONDON })
const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: LONDON })

/** A moment as people read it, in London's time, and as programs do. */
export function when(instant: string): Html {
  return html`<time datetime="${instant}">${MOMENT.format(new Date(instant))}</time>`
}

/** The day of a moment in London. */
export function dayOf(instant: string): Html {
  return html`<time datetime="${instant}">${DAY.format(new Date(instant))}</time>`
}
