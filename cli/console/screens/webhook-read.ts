import { explainForOperator } from '../../../src/wire/explain.ts'
import { EventType } from '../../../src/wire/webhook-events.ts'
import { DeliveryStatus, getWebhook, listOutbox, listWebhooks } from '../../../src/wire/webhooks.ts'
import { call } from '../../client/call.ts'
import { rowsOf } from '../../client/pages.ts'
import type { Page, Reading } from '../screen.ts'
import { OWN, ofMerchant, ofPayment, wordAfter } from './merchant-text.ts'
import type { DeliveryRow, WholeDelivery } from './webhook-lines.ts'

/** What the service can be asked for of a filter, by the names of its query. */
export type Scope = { status?: DeliveryStatus; event_type?: EventType; merchant_id?: string; payment_id?: string }

/** The words of a filter that the service understands, and the others: a status, an event, a merchant and a payment. */
export function scopeOf(filter: string): { query: Scope; others: readonly string[] } {
  const query: Scope = {}
  const words = filter.split(/\s+/).filter((word) => word !== '')
  const others = words.filter((word) => {
    const status = DeliveryStatus.options.find((each) => each === word.toUpperCase())
    const event = EventType.options.find((each) => each === word.toLowerCase())
    const [merchant, payment] = [wordAfter(word, ofMerchant('')), wordAfter(word, ofPayment(''))]
    if (status !== undefined) query.status ??= status
    if (event !== undefined) query.event_type ??= event
    if (merchant !== undefined) query.merchant_id ??= merchant
    if (payment !== undefined) query.payment_id ??= payment
    return [status, event, merchant, payment].every((known) => known === undefined)
  })
  return { query, others }
}

/** The same in one form, however it was typed. */
export function serviceFilter(filter: string): string {
  const { status = '', event_type: event = '', merchant_id: merchant, payment_id: payment } = scopeOf(filter).query
  return [
    status,
    event,
    merchant === undefined ? '' : ofMerchant(merchant),
    payment === undefined ? '' : ofPayment(payment),
  ]
    .filter((word) => word !== '')
    .join(' ')
}

/** A page of deliveries, as far as the service can filter them. */
export async function readPage({ client, who, filter, cursor, limit }: Reading): Promise<Page<DeliveryRow>> {
  const { query } = scopeOf(filter)
  if (who.kind === 'platform') {
    const { body } = await call(client, listOutbox, {
      query: { ...query, limit, ...(cursor === undefined ? {} : { cursor }) },
    })
    return { rows: body.data, next: body.next_cursor }
  }
  const { merchant_id: _others, ...own } = query
  const { body } = await call(client, listWebhooks, { query: own })
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
