import { EventType } from '../../../src/wire/webhook-events.ts'
import { DeliveryStatus, listOutbox, replayWebhooks } from '../../../src/wire/webhooks.ts'
import { quoted } from '../../base/command-hints.ts'
import { endOfId } from '../../base/text.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { rowsOf } from '../../client/pages.ts'
import { replayIfDead, replayOne } from '../../webhooks/replay-one.ts'
import type { Field, Given } from '../model/modal.ts'
import type { Doing, ScreenKey, Shown } from '../screen.ts'
import { listed, ofMerchant, ofPayment, oneOf, ownerText, readFilter, wordAfter } from './merchant-text.ts'
import type { DeliveryRow } from './webhook-detail.ts'

type Side = 'merchant' | 'platform'

const WORDS = {
  status: oneOf(DeliveryStatus.options),
  event_type: oneOf(EventType.options),
  merchant_id: (word: string) => wordAfter(word, ofMerchant('')),
  payment_id: (word: string) => wordAfter(word, ofPayment('')),
}

export function deliveryFilter(filter: string) {
  return readFilter(filter, WORDS)
}
type Query = ReturnType<typeof deliveryFilter>['query']

/** `r` sends a delivery again, or all that are marked; `R` everything that the filter shows and that is DEAD. */
export const REPLAY_KEYS: readonly ScreenKey<DeliveryRow>[] = (['merchant', 'platform'] as const).flatMap((side) => [
  replayKey(side),
  replayAllKey(side),
])

function ofSide(side: Side) {
  const permission = side === 'merchant' ? ('manage webhooks' as const) : ('operate merchants' as const)
  return { writes: true, permission, for: side } as const
}

/** Operators say why: each replay is an action in the audit trail. */
function fieldsOf(side: Side): Field[] {
  return side === 'platform' ? [{ name: 'reason', label: 'Reason', kind: 'line', optional: true }] : []
}

function commandOf(rows: readonly DeliveryRow[], side: Side, { reason }: Given): string {
  const whose = side === 'platform' ? ' --all-merchants' : ''
  return `svc webhooks replay ${rows.map(({ id }) => id).join(' ')}${whose}${flagText('reason', reason)}`
}

function flagText(name: string, value: string | undefined): string {
  return value === undefined ? '' : ` --${name} ${quoted(value)}`
}

function replayKey(side: Side): ScreenKey<DeliveryRow> {
  return {
    ...ofSide(side),
    key: 'r',
    label: 'replay',
    fits: ({ status }) => status === 'DEAD',
    command: (row, given) => commandOf([row], side, given),
    ask: (rows) => ({
      what: `send ${rows.length === 1 ? listed(rows, lineOf).join() : `${rows.length} deliveries`} again, from the first attempt`,
      about: rows.length === 1 ? [] : listed(rows, lineOf),
      fields: fieldsOf(side),
    }),
    optimistic: (row) => ({ ...row, status: 'PENDING', attempt_count: 0, next_retry_at: new Date().toISOString() }),
    async run({ id, merchant_id: merchantId }, { reason }, { client }) {
      await replayOne(client, { id, merchantId }, { reason })
      return `replayed ${endOfId(id)}`
    },
  }
}

function lineOf(row: DeliveryRow): string {
  const owner = ownerText(row)
  return `${row.event_type} (${endOfId(row.id)})${owner === '' ? '' : ` of ${owner}`}`
}

type Batch = Pick<ScreenKey<DeliveryRow>, 'command' | 'ask' | 'run'>

function replayAllKey(side: Side): ScreenKey<DeliveryRow> {
  const key: ScreenKey<DeliveryRow> = {
    ...ofSide(side),
    key: 'R',
    label: 'replay all dead',
    on: 'list',
    needs: 'nothing',
    command: () => `svc webhooks replay --status DEAD${side === 'platform' ? ' --all-merchants' : ''}`,
    run: async () => undefined,
  }
  return {
    ...key,
    counted: {
      offered: hasDead,
      async make({ filter }, { client }) {
        const { query, others } = deliveryFilter(filter)
        if (others.length > 0 || (side === 'merchant' && query.payment_id !== undefined))
          return `replay all: filter for an event${side === 'platform' ? ', payment:<id> or merchant:<id>' : ''}; or mark rows, and r`
        const batch = await (side === 'merchant' ? ownBatch(client, query.event_type) : batchOfMerchants(client, query))
        if (batch !== undefined) return { ...key, ...batch }
        return filter === '' ? 'nothing is DEAD' : `nothing that "${filter}" shows is DEAD`
      },
    },
  }
}

/** Whether what is shown may have something in it that is DEAD: what the filter leaves out is not meant. */
function hasDead({ filter, rows, hasMore }: Shown<DeliveryRow>): boolean {
  const { query, others } = deliveryFilter(filter)
  return (
    rows.some(({ status }) => status === 'DEAD') ||
    (hasMore && (query.status ?? 'DEAD') === 'DEAD' && others.length === 0)
  )
}

const COUNTED_MAX = 10_000

/** A merchant's own in one request, where a server of thousands has been away. */
async function ownBatch(client: Client, event: EventType | undefined): Promise<Batch | undefined> {
  const body = { status: 'DEAD' as const, ...(event === undefined ? {} : { event_type: event }) }
  const { matching: count } = (await call(client, replayWebhooks, { body: { ...body, dry_run: true } })).body
  if (count === 0) return undefined
  const what = event === undefined ? 'everything' : `every ${event}`
  const many = `${count >= COUNTED_MAX ? `${COUNTED_MAX} or more` : count} ${count === 1 ? 'delivery' : 'deliveries'}`
  return {
    command: () => `svc webhooks replay --status DEAD${flagText('event', event)}`,
    ask: () => ({
      what: `send ${what} again that is DEAD: ${many}`,
      about: ['They are spread over some time, so that your server is not overrun.'],
      last: () => `sends ${what} again that is DEAD`,
    }),
    async run(_row, _given, doing) {
      const { body: done } = await call(doing.client, replayWebhooks, { body })
      return `replayed ${done.queued} of ${done.matching}${done.has_more ? '; there are more: again' : ''}`
    },
  }
}

const PAGES_MAX = 20

/** Those of merchants one after the other, the oldest first: each is a replay of its own in the audit trail. */
async function batchOfMerchants(client: Client, query: Query): Promise<Batch | undefined> {
  const read = rowsOf(
    async (page) => (await call(client, listOutbox, { query: { ...query, status: 'DEAD', ...page } })).body,
    PAGES_MAX,
  )
  const rows: DeliveryRow[] = (await Array.fromAsync(read)).toReversed()
  if (rows.length === 0) return undefined
  const names = [...new Set(rows.map(ownerText))]
  const whose = names.length === 1 ? names[0] : `${names.length} merchants`
  const many = `${rows.length} DEAD ${rows.length === 1 ? 'delivery' : 'deliveries'} of ${whose}`
  return {
    command(_row, given) {
      // A command has no word for a payment.
      if (query.payment_id !== undefined) return commandOf(rows, 'platform', given)
      const realms = [...new Set(rows.map(({ realm_slug: realm, merchant_id: id }) => realm ?? id ?? ''))]
      const rest = `${flagText('event', query.event_type)}${flagText('reason', given['reason'])}`
      return realms.map((realm) => `svc webhooks replay --status DEAD --merchant ${realm}${rest}`).join('\n')
    },
    ask: () => ({
      what: `send ${many} again`,
      about: [...listed(rows, lineOf), 'Each of them is a replay of its own in the audit trail.'],
      fields: fieldsOf('platform'),
      danger: [String(rows.length)],
      last: () => `sends ${many} again; Esc stops it on the way`,
      act: () => `replay ${rows.length}`,
    }),
    run: (_row, given, doing) => replayRows(rows, given, { ...doing, title: `Replaying ${many}` }),
  }
}

/** @throws {CliError} as the service refuses one of them */
async function replayRows(
  rows: readonly DeliveryRow[],
  { reason }: Given,
  { client, watch, title }: Doing & { title: string },
): Promise<string> {
  let done = 0
  const told = (): string => `${done} of ${rows.length} are sent again`
  const isOver = await watch(title, async ({ signal, write }) => {
    for (const { id, merchant_id: merchantId } of rows) {
      if (signal.aborted) break
      write([told()])
      if (await replayIfDead({ ...client, signal }, { id, merchantId: merchantId ?? '' }, { reason })) done += 1
    }
    return [told()]
  })
  return isOver ? `replayed ${done} of ${rows.length}` : `stopped: ${told()}`
}
