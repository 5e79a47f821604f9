import { outcomeText } from '../../src/lib/outcome-text.ts'
import { AdminDelivery, Delivery } from '../../src/wire/webhooks.ts'
import type { DeliveryAttempt, DeliveryDetail, WebhookAlert } from '../../src/wire/webhooks.ts'
import type { Context } from '../kit/context.ts'
import { tableBelow, stylesOf } from '../output/table.ts'
import type { Column } from '../output/table.ts'
import { endOfId, minuteOf, printable, shortTime } from '../base/text.ts'
import { distanceOf } from '../base/times.ts'
import { warn } from '../kit/warn.ts'
import { whoseColumns, whoseText } from '../merchants/whose.ts'

export const deliveryStyle = stylesOf({ DELIVERED: 'green', DEAD: 'red' }, 'yellow')

const STATE_COLUMNS: readonly Column<Delivery>[] = [
  { title: 'event', value: eventText, least: 14 },
  { title: 'status', value: (row) => row.status, style: deliveryStyle },
  { title: 'http', value: (row) => row.last_http_status?.toString() ?? '', align: 'right' },
  { title: 'attempts', value: (row) => String(row.attempt_count), align: 'right', dropped: 3 },
  { title: 'next attempt', value: (row) => shortTime(row.next_retry_at), short: minuteOf, dropped: 2 },
  { title: 'created', value: (row) => shortTime(row.created_at), short: minuteOf, dropped: 1 },
  { title: 'last error', value: (row) => errorText(row), least: 16 },
]

/**
 * What it is about. A delivery of `svc webhooks test` has no payment. An event of a mandate has none either: nothing in a
 * delivery distinguishes the two but the name of the event.
 */
export function eventText({ event_type: event, payment_id: payment }: Delivery): string {
  return payment === null && !event.startsWith('consent.') ? `${event} (test)` : event
}

function errorText({ last_error: code }: Delivery): string {
  return code === null ? '' : outcomeText(code)
}

export function deliveryColumns<Row extends Delivery>(between: readonly Column<Row>[] = []): readonly Column<Row>[] {
  return [{ title: 'id', value: (row) => row.id, short: endOfId }, ...between, ...STATE_COLUMNS]
}

export function printDeliveries(
  context: Context,
  items: readonly (Delivery | AdminDelivery)[],
  isOfMerchants = false,
): void {
  context.print.list(items, {
    fields: isOfMerchants ? AdminDelivery : Delivery,
    columns: deliveryColumns(
      isOfMerchants ? whoseColumns((row: Delivery) => ('merchant_id' in row ? (row as AdminDelivery) : undefined)) : [],
    ),
    id: (row) => row.id,
    empty: 'There are no such deliveries.',
  })
}

/** What a merchant has to know about its deliveries, in the words of the command line. */
export function warnOf(context: Context, alert: WebhookAlert | null): void {
  if (alert === null) return
  const next =
    alert.code === 'ENDPOINT_GONE'
      ? 'svc webhooks endpoint set <url>\nthen: svc webhooks replay --status DEAD'
      : 'svc webhooks list --status DEAD; once the endpoint answers, svc webhooks replay --status DEAD'
  warn(context, alert.message, next)
}

export type DeliveryView = {
  delivery: Delivery | AdminDelivery | DeliveryDetail
  /** Whether the payload is shown as well, which is long. */
  withPayload: boolean
}

export function printDelivery({ print }: Pick<Context, 'print'>, { delivery, withPayload }: DeliveryView): void {
  const { attempts, payload } = { attempts: [], payload: '', ...delivery }
  print.record(delivery, linesOf(delivery), {
    after: [withPayload && payload !== '' ? prettyPayload(payload) : '', tableBelow(print, attempts, ATTEMPT_COLUMNS)],
  })
}

/** When it is tried again; one without a planned attempt waits for an address that takes it. */
function nextText({ status, next_retry_at: next }: Delivery): string {
  if (next !== null) return `${shortTime(next)} (${distanceOf(next)})`
  return status === 'PENDING' ? 'none planned: there is no endpoint, or it is paused' : ''
}

function linesOf(delivery: DeliveryView['delivery']): [string, string][] {
  const { last_http_status: http } = delivery
  return [
    ['Delivery', delivery.id],
    ['Event', `${eventText(delivery)} (${delivery.event_id})`],
    ['Merchant', 'merchant_id' in delivery ? whoseText(delivery) : ''],
    ['Status', delivery.status],
    ['Payment', delivery.payment_id ?? ''],
    ['Attempts', String(delivery.attempt_count)],
    ['Last answer', http === null ? '' : `HTTP ${http}`],
    ['Last error', errorText(delivery)],
    ['Next attempt', nextText(delivery)],
    ['Delivered', shortTime(delivery.delivered_at)],
    ['Created', shortTime(delivery.created_at)],
  ]
}

/** The payload for eyes: what verifies are its bytes, which `-q payload` prints. */
export function prettyPayload(payload: string): string {
  try {
    return printable(JSON.stringify(JSON.parse(payload), null, 2), 'lines')
  } catch {
    return printable(payload, 'lines')
  }
}

const ATTEMPT_COLUMNS: readonly Column<DeliveryAttempt>[] = [
  { title: 'attempt', value: (row) => String(row.attempt), align: 'right' },
  { title: 'began', value: (row) => shortTime(row.started_at), short: minuteOf, dropped: 1 },
  { title: 'took', value: (row) => `${row.duration_ms} ms`, align: 'right' },
  { title: 'http', value: (row) => row.http_status?.toString() ?? '', align: 'right' },
  { title: 'outcome', value: (row) => outcomeText(row.outcome), least: 16 },
  { title: 'answer', value: (row) => bodyText(row.response_body), least: 12 },
]

const ANSWER_LENGTH_MAX = 200

function bodyText(body: string | null): string {
  const text = (body ?? '').replace(/\s+/g, ' ').trim()
  return text.length > ANSWER_LENGTH_MAX ? `${text.slice(0, ANSWER_LENGTH_MAX)}…` : text
}
