import { EventType } from '../../../src/wire/webhook-events.ts'
import { DeliveryStatus, replayWebhooks } from '../../../src/wire/webhooks.ts'
import { quoted } from '../../base/command-hints.ts'
import { endOfId } from '../../base/text.ts'
import { call } from '../../client/call.ts'
import { replayOne } from '../../webhooks/replay-one.ts'
import type { ScreenKey } from '../screen.ts'
import { listed, ofMerchant, ofPayment, oneOf, ownerText, readFilter, wordAfter } from './merchant-text.ts'
import type { DeliveryRow } from './webhooks.ts'

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

const ALL = { key: 'R', label: 'replay all dead', on: 'list', needs: 'nothing', run: async () => undefined } as const

/** `r` sends a delivery again, or all that are marked; `R` everything that the filter shows and that is DEAD. */
export const REPLAY_KEYS: readonly ScreenKey<DeliveryRow>[] = [
  replayKey('merchant'),
  replayAllKey(),
  replayKey('platform'),
  replayShownKey(),
]

function ofSide(side: Side) {
  const permission = side === 'merchant' ? ('manage webhooks' as const) : ('operate merchants' as const)
  return { writes: true, permission, for: side } as const
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
    command: ({ id }, { reason }) =>
      `svc webhooks replay ${id}${side === 'platform' ? ' --all-merchants' : ''}${flagText('reason', reason)}`,
    ask(rows) {
      const isMany = rows.length > 1
      const what = `${isMany ? `${rows.length} deliveries` : listed(rows, lineOf).join()} again, from the first attempt`
      return {
        what: `send ${what}`,
        about: isMany ? listed(rows, lineOf) : [],
        // Operators say why: each replay is an action in the audit trail.
        fields: side === 'platform' ? [{ name: 'reason', label: 'Reason', kind: 'line', optional: true }] : [],
      }
    },
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

/** An operator's: what the list shows and is DEAD, the oldest first, each a replay of its own in the audit trail. */
function replayShownKey(): ScreenKey<DeliveryRow> {
  return {
    ...ofSide('platform'),
    ...ALL,
    command: () => 'svc webhooks replay --status DEAD --all-merchants',
    counted: {
      offered: ({ rows }) => rows.some(({ status }) => status === 'DEAD'),
      async make({ rows, hasMore }) {
        const key = replayKey('platform')
        const dead = rows.filter(({ status }) => status === 'DEAD').toReversed()
        const more = hasMore ? ['There may be older ones: PgDn loads them.'] : []
        const ask: typeof key.ask = (asked, who) => {
          const question = key.ask?.(asked, who) ?? { what: key.label }
          const last = (): string => `sends ${question.what.replace('send ', '')}`
          return { ...question, about: [...(question.about ?? []), ...more], danger: [String(asked.length)], last }
        }
        return { key: { ...key, ask }, rows: dead }
      },
    },
  }
}

const COUNTED_MAX = 10_000

/** A merchant's own in one request, where a server of thousands has been away. */
function replayAllKey(): ScreenKey<DeliveryRow> {
  const key = { ...ofSide('merchant'), ...ALL, command: () => 'svc webhooks replay --status DEAD' }
  return {
    ...key,
    counted: {
      offered: ({ filter, rows, hasMore }) =>
        rows.some(({ status }) => status === 'DEAD') ||
        (hasMore && (deliveryFilter(filter).query.status ?? 'DEAD') === 'DEAD'),
      async make({ filter }, { client }) {
        const { query, others } = deliveryFilter(filter)
        const event = query.event_type
        if (others.length > 0 || query.payment_id !== undefined)
          return 'replay all: filter for an event; or mark rows, and r'
        const body = { status: 'DEAD' as const, ...(event === undefined ? {} : { event_type: event }) }
        const { matching: count } = (await call(client, replayWebhooks, { body: { ...body, dry_run: true } })).body
        if (count === 0) return filter === '' ? 'nothing is DEAD' : `nothing that "${filter}" shows is DEAD`
        const what = event === undefined ? 'everything' : `every ${event}`
        const many = `${count >= COUNTED_MAX ? `${COUNTED_MAX} or more` : count} ${count === 1 ? 'delivery' : 'deliveries'}`
        const made: ScreenKey<DeliveryRow> = {
          ...key,
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
        return { key: made }
      },
    },
  }
}
