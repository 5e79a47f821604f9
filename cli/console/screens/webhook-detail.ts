import { outcomeText } from '../../../src/lib/outcome-text.ts'
import { explainForOperator } from '../../../src/wire/explain.ts'
import type { TimelineEntry } from '../../../src/wire/explain.ts'
import { getWebhook, listOutbox } from '../../../src/wire/webhooks.ts'
import type { AdminDelivery, Delivery, DeliveryAttempt } from '../../../src/wire/webhooks.ts'
import { shortTime } from '../../base/text.ts'
import { call } from '../../client/call.ts'
import { rowsOf } from '../../client/pages.ts'
import { prettyPayload, printDelivery } from '../../webhooks/view.ts'
import type { Context } from '../../kit/context.ts'
import type { Reading } from '../screen.ts'
import { OWN } from './merchant-text.ts'

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
  story: readonly TimelineEntry[]
}

/** A delivery as `svc webhooks show` prints it. */
export function printRow(
  context: Pick<Context, 'print'>,
  { row, whole }: { row: DeliveryRow; whole: WholeDelivery | undefined },
): void {
  const { merchant_id: id, realm_slug: realm, trading_name: name, ...own } = row
  const listed = id === null ? own : { ...row, merchant_id: id, trading_name: name ?? realm ?? id }
  printDelivery(context, { delivery: { ...listed, attempts: [...(whole?.attempts ?? [])] }, withPayload: false })
}

/** All that was sent and answered, for reading. */
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
    return { delivery: { ...delivery, ...OWN }, payload, attempts, story: [] }
  }
  // What was sent and answered is the merchant's affair: operators read the timeline.
  const { body: story } = await call(client, explainForOperator, { params: { id } })
  const ofMerchant = { merchant_id: story.merchant_id }
  const rows = rowsOf(
    async (page) => (await call(client, listOutbox, { query: { ...ofMerchant, ...page } })).body,
    PAGES_MAX,
  )
  for await (const row of rows)
    if (row.id === id) return { delivery: row, payload: '', attempts: [], story: story.timeline }
  throw new Error(`it is too old for its merchant's list; its timeline: svc explain ${id}`)
}

/** So far back an operator's delivery is looked for in the list of its merchant. */
const PAGES_MAX = 5
