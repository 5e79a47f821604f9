import { explainForOperator } from '../../../src/wire/explain.ts'
import { EventType } from '../../../src/wire/webhook-events.ts'
import { DeliveryStatus, getWebhook, listOutbox, listWebhooks } from '../../../src/wire/webhooks.ts'
import { call } from '../../client/call.ts'
import { rowsOf } from '../../client/pages.ts'
import type { Page, Reading } from '../screen.ts'
import { OWN, ofMerchant, ofPayment, wordAfter } from './merchant-text.ts'
import type { DeliveryRow, WholeDelivery } from './webhook-lines.ts'

/** The words of a filter that the service understands: a status, an event, a merchant and a payment. */
export function serviceFilter(filter: string): string {
  const words = filter.toUpperCase().split(/\s+/)
  const status = DeliveryStatus.options.find((each) => words.includes(each))
  const event = eventIn(filter)
  const [merchant, payment] = [wordAfter(filter, ofMerchant('')), wordAfter(filter, ofPayment(''))]
  return [
    status ?? '',
    event ?? '',
    merchant === undefined ? '' : ofMerchant(merchant),
    payment === undefined ? '' : ofPayment(payment),
  ]
    .filter((word) => word !== '')
    .join(' ')
}

/** The event that a word of a filter names, whole. */
export function eventIn(filter: string): EventType | undefined {
  const words = filter.toLowerCase().split(/\s+/)
  return EventType.options.find((each) => words.includes(each))
}

/** A page of deliveries, as far as the service can filter them. */
export async function readPage({ client, who, filter, cursor, limit }: Reading): Promise<Page<DeliveryRow>> {
  const status = DeliveryStatus.options.find((each) => filter.split(' ').includes(each))
  const payment = wordAfter(filter, ofPayment(''))
  const event = eventIn(filter)
  const only = {
    ...(status === undefined ? {} : { status }),
    ...(event === undefined ? {} : { event_type: event }),
    ...(payment === undefined ? {} : { payment_id: payment }),
  }
  if (who.kind === 'platform') {
    const merchant = wordAfter(filter, ofMerchant(''))
    const whose = merchant === undefined ? {} : { merchant_id: merchant }
    const query = { ...only, ...whose, limit, ...(cursor === undefined ? {} : { cursor }) }
    const { body } = await call(client, listOutbox, { query })
    return { rows: body.data, next: body.next_cursor }
  }
  const { body } = await call(client, listWebhooks, { query: only })
  const rows = body.data.map((row) => ({ ...row, ...OWN }))
  // A merchant's list has no pages: it is the last 50 (contract §Limits).
  return { rows, next: null, ...(rows.length < NEWEST ? {} : { isNewestOnly: true }) }
}

const NEWEST = 50

/** A delivery with what was sent, or with its story. */
export async function readWhole({
  client,
  who,
  arg: id,
}: Pick<Reading, 'client' | 'who' | 'arg'>): Promise<WholeDelivery> {
  if (who.kind === 'merchant') {
    const { payload, attempts, ...delivery } = (await call(client, getWebhook, { params: { id } })).body
    return { delivery: { ...delivery, ...OWN }, payload, attempts, story: [] }
  }
  // What was sent and answered is the merchant's affair: operators read the story of it.
  const { body: story } = await call(client, explainForOperator, { params: { id } })
  const row = await outboxRow({ client, id, merchantId: story.merchant_id })
  return { delivery: row, payload: null, attempts: [], story: story.timeline }
}

/** An operator's look at one delivery: it stands in the list of its merchant. */
async function outboxRow({
  client,
  id,
  merchantId,
}: Pick<Reading, 'client'> & { id: string; merchantId: string }): Promise<DeliveryRow> {
  const rows = rowsOf(
    async (page) => (await call(client, listOutbox, { query: { merchant_id: merchantId, ...page } })).body,
    PAGES_MAX,
  )
  for await (const row of rows) if (row.id === id) return row
  throw new Error(`it is too old for its merchant's list; its story: svc explain ${id}`)
}

const PAGES_MAX = 5
