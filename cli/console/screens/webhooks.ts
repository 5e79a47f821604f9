import { outcomeText } from '../../../src/lib/outcome-text.ts'
import { listOutbox, listWebhooks, getWebhook } from '../../../src/wire/webhooks.ts'
import { endOfId, shortTime } from '../../base/text.ts'
import { call } from '../../client/call.ts'
import { TEST_ACTIONS } from '../../webhooks/endpoint-actions.ts'
import { findDelivery, ownDeliveryId } from '../../webhooks/find.ts'
import { SECRET_ACTIONS } from '../../webhooks/secret-actions.ts'
import { deliveryStyle, eventText, prettyPayload, printDelivery } from '../../webhooks/view.ts'
import { timelineColumns } from '../../overview/view.ts'
import { actionKeys } from '../action-key.ts'
import { heading } from '../lines.ts'
import { tableLines } from '../record-lines.ts'
import { AGE_WIDTH, UNTIL_WIDTH, ageOf, untilText } from '../../base/ages.ts'
import { forOperators, leadingKey, pageOf, screen } from '../screen.ts'
import type { Hint, Page, Reading, ScreenKey } from '../screen.ts'
import { OWN, explainText, ofMerchant, ofPayment, ownerText } from './merchant-text.ts'
import { REPLAY_KEYS, deliveryFilter } from './webhook-replay.ts'
import { explainForOperator } from '../../../src/wire/explain.ts'
import type { TimelineEntry } from '../../../src/wire/explain.ts'
import type { AdminDelivery, Delivery, DeliveryAttempt } from '../../../src/wire/webhooks.ts'
import { rowsIn } from '../../kit/resolve-id.ts'
import type { Context } from '../../kit/context.ts'

/** How often a delivery is tried before it is dead (contract §Webhook delivery). */
const ATTEMPTS_MAX = 6

const KEYS: readonly ScreenKey<DeliveryRow>[] = [
  ...REPLAY_KEYS,
  leadingKey<DeliveryRow>({
    key: 'D',
    label: 'dead only',
    on: 'list',
    needs: 'nothing',
    command: (_row, _given, { kind }) =>
      `svc webhooks list --status DEAD${kind === 'platform' ? ' --all-merchants' : ''}`,
    to: () => ['webhooks', { filter: 'DEAD' }],
  }),
  ...actionKeys<DeliveryRow, DeliveryRow>([...TEST_ACTIONS, ...SECRET_ACTIONS], {
    get: (row) => row,
    set: (row) => row,
  }),
  {
    key: 'd',
    label: 'bodies',
    for: 'merchant',
    needs: 'one',
    command: ({ id }) => `svc webhooks show ${id}`,
    async run({ id, event_type: event }, _given, { client, who, show }) {
      show(`${event} (${endOfId(id)})`, bodyLines(await readWhole({ client, who, arg: id })))
      return undefined
    },
  },
  leadingKey<DeliveryRow>({
    key: 'o',
    label: 'its payment',
    fits: ({ payment_id: id }) => id !== null,
    command: ({ payment_id: id }, _given, { kind }) => explainText(id ?? '', kind),
    to: ({ payment_id: id }) => ['payments', { open: id ?? '' }],
  }),
]

export const webhooks = screen<DeliveryRow, WholeDelivery>({
  name: 'webhooks',
  key: '6',
  title: 'Webhooks',
  short: 'Hook',
  noun: 'delivery',
  reads: ['read merchants', 'manage webhooks'],
  follow: true,
  limit: 50,
  // Only the end of all attempts is announced: what is in progress is read again.
  list: {
    read: readPage,
    isDirty: isAboutDeliveries,
    isOld: (rows, at) => rows.some((row) => isOnItsWay(row, at)),
  },
  serviceFilter: (filter) => deliveryFilter(filter).asked,
  serviceLooksFor: 'a status, a whole event, payment:<id> or merchant:<id>',
  id: ({ id }) => id,
  columns: ({ now, who }) => [
    { title: 'id', value: (row) => endOfId(row.id), dropped: 4 },
    { title: 'event', value: eventText, least: 18 },
    { title: 'status', value: (row) => row.status, style: deliveryStyle },
    ...forOperators<DeliveryRow>(who, [{ title: 'merchant', value: ownerText, least: 8 }]),
    { title: 'http', value: (row) => String(row.last_http_status ?? ''), align: 'right' },
    { title: 'try', value: (row) => `${row.attempt_count}/${ATTEMPTS_MAX}`, align: 'right' },
    { title: 'next', value: (row) => nextText(row, now), floor: UNTIL_WIDTH },
    { title: 'age', value: (row) => ageOf(row.created_at, now), align: 'right', floor: AGE_WIDTH, dropped: 3 },
    {
      title: 'last error',
      value: (row) => (row.last_error === null ? '' : outcomeText(row.last_error)),
      least: 12,
      dropped: 2,
    },
    { title: 'payment', value: (row) => (row.payment_id === null ? '' : endOfId(row.payment_id)), dropped: 1 },
    { title: 'event id', value: (row) => row.event_id, onlyWide: true },
    { title: 'delivered', value: (row) => shortTime(row.delivered_at), onlyWide: true },
    { title: 'delivery', value: (row) => row.id, onlyWide: true },
    { title: 'realm', value: (row) => row.realm_slug ?? '', onlyWide: true },
    { title: 'filter by', value: filtersOf, onlyWide: true },
  ],
  empty: 'There are no such deliveries.',
  detail: {
    title: (row) => `${row.event_type} ${row.status}`,
    read: readWhole,
    isOld: ([whole], at) => whole !== undefined && isOnItsWay(whole.delivery, at),
    row: ({ delivery }) => delivery,
    print: printRow,
    below: ({ timeline }, { width }) =>
      timeline.length === 0 ? [] : [...heading('What has happened'), ...tableLines(timeline, timelineColumns, width)],
    find: async (client, text, half) =>
      half === 'platform' ? (await findDelivery(client, text, undefined)).id : await ownDeliveryId(client, text),
  },
  keys: KEYS,
})

async function readPage({ client, who, filter, page }: Reading): Promise<Page<DeliveryRow>> {
  const { merchant_id: merchant, ...own } = deliveryFilter(filter).query
  if (who.kind === 'platform') {
    const one = merchant === undefined ? {} : { merchant_id: merchant }
    return pageOf((await call(client, listOutbox, { query: { ...page, ...own, ...one } })).body)
  }
  const { body } = await call(client, listWebhooks, { query: own })
  const rows = body.data.map((row) => ({ ...row, ...OWN }))
  // A merchant's list has no pages: it is the last 50 (contract §Limits).
  return { rows, next: null, ...(rows.length < NEWEST ? {} : { isNewestOnly: true }) }
}

const NEWEST = 50

/** An event is a new delivery; otherwise it is announced which have become DEAD, or no longer are. */
function isAboutDeliveries(hint: Hint): boolean {
  return 'event' in hint || hint.of.includes('deliveries')
}

const LOOK_MS = 2_000

function isOnItsWay({ next_retry_at: next }: DeliveryRow, { readAt, now }: { readAt: number; now: number }): boolean {
  return next !== null && Date.parse(next) <= now && now - readAt >= LOOK_MS
}

/** When it is tried again; what is due is on its way. */
function nextText({ status, next_retry_at: next }: DeliveryRow, now: number): string {
  if (next === null) return status === 'DEAD' ? 'never' : status === 'DELIVERED' ? '' : 'waits'
  return Date.parse(next) <= now ? 'now' : untilText(next, now)
}

/** The words of a filter that lead to it, which a row has to have. */
function filtersOf({ merchant_id: merchant, payment_id: payment }: DeliveryRow): string {
  return [merchant === null ? '' : ofMerchant(merchant), payment === null ? '' : ofPayment(payment)].join(' ').trim()
}

/** A delivery of the list; a merchant's own names no merchant. */
export type DeliveryRow = Delivery & {
  merchant_id: string | null
  realm_slug: AdminDelivery['realm_slug']
  trading_name: string | null
}

/** A delivery with what was sent and answered, which its merchant may see, or with its timeline, which operators read. */
export type WholeDelivery = {
  delivery: DeliveryRow
  payload: string
  attempts: readonly DeliveryAttempt[]
  timeline: readonly TimelineEntry[]
}

function printRow(
  context: Pick<Context, 'print'>,
  { row, whole }: { row: DeliveryRow; whole: WholeDelivery | undefined },
): void {
  const { merchant_id: id, realm_slug: realm, trading_name: name, ...own } = row
  const listed = id === null ? own : { ...row, merchant_id: id, trading_name: name ?? realm ?? id }
  printDelivery(context, { delivery: { ...listed, attempts: [...(whole?.attempts ?? [])] }, withPayload: false })
}

export function bodyLines({ delivery, payload, attempts }: WholeDelivery): string[] {
  return [
    `Sent, as ${delivery.event_id}:`,
    ...prettyPayload(payload).split('\n'),
    ...attempts.flatMap(({ attempt, started_at: at, outcome, response_body: body }) => [
      '',
      `Answer to try ${attempt} (${shortTime(at)}): ${outcomeText(outcome)}`,
      ...(body ?? '').split('\n').filter((text) => text.trim() !== ''),
    ]),
    ...(attempts.length === 0 ? ['', 'It has not been tried yet.'] : []),
  ]
}

export async function readWhole({
  client,
  who,
  arg: id,
}: Pick<Reading, 'client' | 'who' | 'arg'>): Promise<WholeDelivery> {
  if (who.kind === 'merchant') {
    const { payload, attempts, ...delivery } = (await call(client, getWebhook, { params: { id } })).body
    return { delivery: { ...delivery, ...OWN }, payload, attempts, timeline: [] }
  }
  // What was sent and answered is the merchant's affair: operators read the timeline.
  const { body: explanation } = await call(client, explainForOperator, { params: { id } })
  for await (const row of rowsIn(client, listOutbox, { merchant_id: explanation.merchant_id }))
    if (row.id === id) return { delivery: row, payload: '', attempts: [], timeline: explanation.timeline }
  throw new Error(`it is too old for its merchant's list; its timeline: svc explain ${id}`)
}
