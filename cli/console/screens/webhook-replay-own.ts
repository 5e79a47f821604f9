import { replayWebhook, replayWebhooks } from '../../../src/wire/webhooks.ts'
import { quoted } from '../../base/command-hints.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { CliError } from '../../base/errors.ts'
import { endOfId } from '../../base/text.ts'
import { parseTime } from '../../base/times.ts'
import type { ScreenKey, Shown } from '../screen.ts'
import { listed } from './merchant-text.ts'
import type { DeliveryRow } from './webhook-lines.ts'
import { hasDead, scopeOf, shownDead } from './webhook-scope.ts'

/** What the filter shows of a merchant's own that is DEAD: in one request, where a server of thousands has been away. */
export const replayAllOwn: ScreenKey<DeliveryRow> = {
  key: 'R',
  label: 'replay all dead',
  writes: true,
  permission: 'manage webhooks',
  for: 'merchant',
  on: 'list',
  needs: 'nothing',
  command: () => 'svc webhooks replay --status DEAD',
  ofShown: {
    offered: hasDead,
    async make(shown, { client }) {
      const { event, paymentId, others } = scopeOf(shown.filter)
      // What the request has no word for is named.
      if (others.length > 0 || paymentId !== undefined) return byId(shown)
      const body = { status: 'DEAD' as const, ...(event === undefined ? {} : { event_type: event }) }
      const { body: counted } = await call(client, replayWebhooks, { body: { ...body, dry_run: true } })
      return counted.matching === 0 ? 'nothing of it is DEAD' : atOnce(body, counted.matching)
    },
  },
  run: async () => undefined,
}

const COUNTED_MAX = 10_000

type Body = { status: 'DEAD'; event_type?: NonNullable<ReturnType<typeof scopeOf>['event']> }

function atOnce(body: Body, count: number): ScreenKey<DeliveryRow> {
  const { event_type: event } = body
  const what = event === undefined ? 'everything' : `every ${event}`
  const many = `${count >= COUNTED_MAX ? `${COUNTED_MAX} or more` : count} ${count === 1 ? 'delivery' : 'deliveries'}`
  return {
    ...withoutShown(),
    command: (_row, { since }) =>
      [
        'svc webhooks replay --status DEAD',
        ...(event === undefined ? [] : [`--event ${event}`]),
        ...(since === undefined ? [] : [`--since ${quoted(since)}`]),
      ].join(' '),
    ask: () => ({
      what: `send ${what} again that is DEAD: ${many}`,
      about: ['They are spread over some time, so that your server is not overrun.'],
      fields: [{ name: 'since', label: 'Created since, such as 2h or 2026-11-21', kind: 'line', optional: true }],
      last: ({ since }) => `sends ${what} again that is DEAD${since === undefined ? '' : `, created since ${since}`}`,
    }),
    async run(_row, { since }, { client }) {
      const from = since === undefined ? {} : { since: parseTime(since, 'since') }
      const { body: done } = await call(client, replayWebhooks, { body: { ...body, ...from } })
      return `replayed ${done.queued} of ${done.matching}${done.has_more ? '; there are more: again' : ''}`
    },
  }
}

function byId(shown: Shown<DeliveryRow>): ScreenKey<DeliveryRow> | string {
  const rows = shownDead(shown, 'DEAD, perhaps with a whole event')
  if (typeof rows === 'string') return rows
  const many = `${rows.length} ${rows.length === 1 ? 'delivery' : 'deliveries'}`
  return {
    ...withoutShown(),
    command: () => `svc webhooks replay ${rows.map(({ id }) => id).join(' ')}`,
    ask: () => ({
      what: `send ${many} again that "${shown.filter}" shows and that are DEAD`,
      about: listed(rows, (row) => `${row.event_type}  ${endOfId(row.id)}`),
      last: () => `sends ${many} again, from the first attempt`,
    }),
    async run(_row, _given, { client }) {
      let done = 0
      for (const { id } of rows) if (await replayIfDead(client, id)) done += 1
      return `replayed ${done} of ${rows.length}`
    },
  }
}

/** Sends one again; false where it is DEAD no more: somebody else was quicker, or the try before this one. */
async function replayIfDead(client: Client, id: string): Promise<boolean> {
  try {
    await call(client, replayWebhook, { params: { id } })
    return true
  } catch (error) {
    if (error instanceof CliError && error.code === 'DELIVERY_NOT_DEAD') return false
    throw error
  }
}

function withoutShown(): Omit<typeof replayAllOwn, 'ofShown'> {
  const { ofShown: _, ...key } = replayAllOwn
  return key
}
