import { outcomeText } from '../../../src/lib/outcome-text.ts'
import type { TimelineEntry } from '../../../src/wire/explain.ts'
import type { AdminDelivery, Delivery, DeliveryAttempt } from '../../../src/wire/webhooks.ts'
import { eventText } from '../../webhooks/view.ts'
import { minuteOf, shortTime } from '../../base/text.ts'
import { heading, line, pairs, paragraph } from '../lines.ts'
import type { Line, Tone } from '../lines.ts'
import { ageOf, untilText } from '../model/ages.ts'
import type { Layout } from '../screen.ts'
import { tableLines } from '../table-lines.ts'
import { ownerWhole } from './merchant-text.ts'

/** How often a delivery is tried before it is dead (contract §Webhook delivery). */
export const ATTEMPTS_MAX = 6

/** A delivery of the list; a merchant's own names no merchant. */
export type DeliveryRow = Delivery & {
  merchant_id: string | null
  realm_slug: AdminDelivery['realm_slug']
  trading_name: string | null
}

/** A delivery with what was sent and answered, which its merchant may see, or with its story, which operators read. */
export type WholeDelivery = {
  delivery: DeliveryRow
  payload: string | null
  attempts: readonly DeliveryAttempt[]
  story: readonly TimelineEntry[]
}

/** A delivery in detail: how it stands, each attempt, and what is sent. */
export function deliveryLines(
  { row, whole }: { row: DeliveryRow; whole: WholeDelivery | undefined },
  { width, now }: Layout,
): Line[] {
  return [
    ...pairs(
      [
        ['Delivery', row.id],
        ['Event', `${eventText(row)} ${row.event_id}`],
        ['Merchant', ownerWhole(row)],
        ['Status', row.status, toneOf(row.status)],
        ['Attempts', `${row.attempt_count} of ${ATTEMPTS_MAX}`],
        ['Next attempt', nextText(row, now), 'warn'],
        ['Last answer', row.last_http_status === null ? '' : `HTTP ${row.last_http_status}`],
        ['Last error', row.last_error === null ? '' : outcomeText(row.last_error), 'bad'],
        ['Payment', row.payment_id ?? ''],
        ['Created', `${shortTime(row.created_at)} (${ageOf(row.created_at, now)} ago)`],
        ['Delivered', shortTime(row.delivered_at)],
      ],
      width,
    ),
    ...attemptLines(whole, width),
    ...storyLines(whole, width),
    ...payloadLines(whole, width),
  ]
}

/** When it is tried again; what no attempt is planned of waits for an address that takes it. */
function nextText({ status, next_retry_at: next }: DeliveryRow, now: number): string {
  if (next !== null) return untilText(next, now)
  return status === 'PENDING' ? 'none is planned: there is no address, or it is paused' : ''
}

function toneOf(status: string): Tone {
  if (status === 'DELIVERED') return 'good'
  return status === 'DEAD' ? 'bad' : 'warn'
}

function attemptLines(whole: WholeDelivery | undefined, width: number): Line[] {
  if (whole === undefined) return [...heading('Attempts'), line('Loading ...', 'dim')]
  if (whole.attempts.length === 0) return []
  return [
    ...heading('Attempts'),
    ...tableLines(
      whole.attempts,
      [
        { title: 'try', value: ({ attempt }) => String(attempt), align: 'right' },
        { title: 'began', value: ({ started_at: at }) => shortTime(at), short: minuteOf, dropped: 1 },
        { title: 'took', value: ({ duration_ms: ms }) => `${ms} ms`, align: 'right' },
        { title: 'http', value: ({ http_status: status }) => String(status ?? ''), align: 'right' },
        {
          title: 'outcome',
          value: ({ outcome }) => outcomeText(outcome),
          style: (text) => (text === 'delivered' ? 'green' : 'red'),
          least: 12,
        },
        {
          title: 'answer',
          value: ({ response_body: body }) => (body ?? '').replace(/\s+/g, ' ').trim().slice(0, 200),
          least: 10,
        },
      ],
      width,
    ),
  ]
}

function storyLines(whole: WholeDelivery | undefined, width: number): Line[] {
  if (whole === undefined || whole.story.length === 0) return []
  return [
    ...heading('What has happened'),
    ...tableLines(
      whole.story,
      [
        { title: 'time', value: ({ at }) => shortTime(at), short: minuteOf },
        { title: 'what', value: ({ text }) => text, least: 20 },
        { title: 'status', value: ({ status }) => status ?? '', dropped: 1 },
        { title: 'by', value: ({ by }) => by ?? '', dropped: 2 },
      ],
      width,
    ),
  ]
}

/** The payload for eyes: what verifies are its bytes, which svc webhooks show <id> -q payload prints. */
function payloadLines(whole: WholeDelivery | undefined, width: number): Line[] {
  if (whole?.payload === null || whole === undefined) return []
  return [...heading('What is sent'), ...paragraph(pretty(whole.payload), width)]
}

function pretty(payload: string): string {
  try {
    return JSON.stringify(JSON.parse(payload), null, 2)
  } catch {
    return payload
  }
}

/** All that was sent and answered, for reading; operators read the story of it instead. */
export function bodyLines({ delivery, payload, attempts, story }: WholeDelivery): string[] {
  if (payload === null)
    return story.map(({ at, text, by }) => `${shortTime(at)}  ${text}${by === null ? '' : ` (${by})`}`)
  return [
    `Sent, as ${delivery.event_id}:`,
    ...pretty(payload).split('\n'),
    ...attempts.flatMap(({ attempt, started_at: at, outcome, response_body: body }) => [
      '',
      `Answer to try ${attempt} (${shortTime(at)}): ${outcomeText(outcome)}`,
      ...(body ?? '').split('\n').filter((text) => text.trim() !== ''),
    ]),
    ...(attempts.length === 0 ? ['', 'It has not been tried yet.'] : []),
  ]
}
