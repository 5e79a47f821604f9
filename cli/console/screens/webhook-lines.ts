import { outcomeText } from '../../../src/lib/outcome-text.ts'
import type { TimelineEntry } from '../../../src/wire/explain.ts'
import type { AdminDelivery, Delivery, DeliveryAttempt } from '../../../src/wire/webhooks.ts'
import { printDelivery } from '../../webhooks/view.ts'
import { minuteOf, shortTime } from '../../base/text.ts'
import { EMPTY_LINE, heading, line, paragraph } from '../lines.ts'
import type { Line } from '../lines.ts'
import { recordLines } from '../record-lines.ts'
import type { Layout } from '../screen.ts'
import { tableLines } from '../table-lines.ts'

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
  { width }: Layout,
): Line[] {
  const delivery = { ...withoutOwn(row), attempts: [...(whole?.attempts ?? [])] }
  return [
    ...recordLines(width, (context) => printDelivery(context, { delivery, withPayload: false })),
    ...(whole === undefined ? [EMPTY_LINE, line('Loading ...', 'dim')] : []),
    ...storyLines(whole, width),
    ...payloadLines(whole, width),
  ]
}

/** A merchant's own names no merchant. */
function withoutOwn({
  merchant_id: id,
  realm_slug: realm,
  trading_name: name,
  ...row
}: DeliveryRow): Delivery | AdminDelivery {
  return id === null ? row : { ...row, merchant_id: id, realm_slug: realm, trading_name: name ?? realm ?? id }
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

/** All that was sent and answered, for reading. */
export function bodyLines({ delivery, payload, attempts }: WholeDelivery): string[] {
  return [
    `Sent, as ${delivery.event_id}:`,
    ...pretty(payload ?? '').split('\n'),
    ...attempts.flatMap(({ attempt, started_at: at, outcome, response_body: body }) => [
      '',
      `Answer to try ${attempt} (${shortTime(at)}): ${outcomeText(outcome)}`,
      ...(body ?? '').split('\n').filter((text) => text.trim() !== ''),
    ]),
    ...(attempts.length === 0 ? ['', 'It has not been tried yet.'] : []),
  ]
}
