import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'

const LONDON = 'Europe/London'
const BRITISH = 'en-GB'
const MOMENT = momentIn(BRITISH)
const DAY = new Intl.DateTimeFormat(BRITISH, { dateStyle: 'long', timeZone: LONDON })

/** A time in London, in words for people, and in ISO 8601 for programs. */
export function when(instant: string, tag = BRITISH): Html {
  const moment = tag === BRITISH ? MOMENT : momentIn(tag)
  return html`<time datetime="${instant}">${moment.format(new Date(instant))}</time>`
}

/** A time in London as text, with the zone. */
export function timeText(instant: string, tag: string): string {
  return momentIn(tag).format(new Date(instant))
}

/** The date of a time in London. */
export function dayOf(instant: string): Html {
  return html`<time datetime="${instant}">${DAY.format(new Date(instant))}</time>`
}

function momentIn(tag: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(tag, { dateStyle: 'long', timeStyle: 'long', timeZone: LONDON })
}
