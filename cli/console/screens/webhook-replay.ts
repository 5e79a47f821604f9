import { listOutbox, replayWebhook, replayWebhooks } from '../../../src/wire/webhooks.ts'
import { quoted } from '../../base/command-hints.ts'
import { CliError } from '../../base/errors.ts'
import { endOfId } from '../../base/text.ts'
import { parseTime } from '../../base/times.ts'
import type { Who } from '../../client/auth/acting-side.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { rowsOf } from '../../client/pages.ts'
import { replayOfMerchant } from '../../webhooks/replay-all.ts'
import type { Field, Given } from '../model/modal.ts'
import type { Doing, ScreenKey, Shown } from '../screen.ts'
import { listed, ownerText } from './merchant-text.ts'
import type { DeliveryRow } from './webhook-lines.ts'
import { scopeOf } from './webhook-read.ts'
import type { Scope } from './webhook-read.ts'

type Side = Exclude<Who['kind'], 'customer'>

const PERMISSIONS = { merchant: 'manage webhooks', platform: 'operate merchants' } as const
const REASON: Field = { name: 'reason', label: 'Reason', kind: 'line', optional: true }
const SINCE: Field = { name: 'since', label: 'Created since, such as 2h or 2026-11-21', kind: 'line', optional: true }

/** `r` sends a delivery again, or all that are marked; `R` everything that the filter shows and that is DEAD. */
export const REPLAY_KEYS: readonly ScreenKey<DeliveryRow>[] = (['merchant', 'platform'] as const).flatMap((side) => [
  replayKey(side),
  replayAllKey(side),
])

function replayKey(side: Side): ScreenKey<DeliveryRow> {
  return {
    key: 'r',
    label: 'replay',
    writes: true,
    permission: PERMISSIONS[side],
    for: side,
    fits: ({ status }) => status === 'DEAD',
    facts: ({ status }) => status,
    command: (row, given) => commandOf([row], side, given),
    ask: (rows) => ({
      what: `send ${rows.length === 1 ? listed(rows, lineOf).join() : `${rows.length} deliveries`} again, from the first attempt`,
      about: rows.length === 1 ? [] : listed(rows, lineOf),
      fields: side === 'platform' ? [REASON] : [],
    }),
    optimistic: (row) => ({
      ...row,
      status: 'PENDING',
      attempt_count: 0,
      next_retry_at: new Date().toISOString(),
    }),
    async run(row, { reason }, { client }) {
      await replayOne(client, row, reason)
      return `replayed ${endOfId(row.id)}`
    },
  }
}

function lineOf(row: DeliveryRow): string {
  const owner = ownerText(row)
  return `${row.event_type} (${endOfId(row.id)})${owner === '' ? '' : ` of ${owner}`}`
}

async function replayOne(client: Client, { id, merchant_id: merchantId }: DeliveryRow, reason?: string): Promise<void> {
  if (merchantId === null) await call(client, replayWebhook, { params: { id } })
  else await replayOfMerchant(client, { id, merchantId }, { reason })
}

/** The same as a command that names them. */
function commandOf(rows: readonly DeliveryRow[], side: Side, { reason }: Given): string {
  const whose = side === 'platform' ? ' --all-merchants' : ''
  return `svc webhooks replay ${rows.map(({ id }) => id).join(' ')}${whose}${reasonText(reason)}`
}

function reasonText(reason: string | undefined): string {
  return reason === undefined ? '' : ` --reason ${quoted(reason)}`
}

/** What R sends again: the question, the command and the request. */
type Batch = Pick<ScreenKey<DeliveryRow>, 'command' | 'ask' | 'run'>

function replayAllKey(side: Side): ScreenKey<DeliveryRow> {
  const key: ScreenKey<DeliveryRow> = {
    key: 'R',
    label: 'replay all dead',
    writes: true,
    permission: PERMISSIONS[side],
    for: side,
    on: 'list',
    needs: 'nothing',
    command: () => `svc webhooks replay --status DEAD${side === 'platform' ? ' --all-merchants' : ''}`,
    run: async () => undefined,
  }
  return {
    ...key,
    ofShown: {
      offered: hasDead,
      async make(shown, { client }) {
        const batch = await batchOf(shown, { side, client })
        return typeof batch === 'string' ? batch : { ...key, ...batch }
      },
    },
  }
}

/** Whether what is shown may have something in it that is DEAD: what the filter leaves out is not meant. */
function hasDead({ filter, rows, hasMore }: Shown<DeliveryRow>): boolean {
  if (rows.some(({ status }) => status === 'DEAD')) return true
  const { query, others } = scopeOf(filter)
  return hasMore && (query.status ?? 'DEAD') === 'DEAD' && others.length === 0
}

/** So many are named by their ids at once. */
const NAMED_MAX = 100
/** So many are sent again at once: 20 pages. */
const PAGES_MAX = 20
const DEAD_MAX = PAGES_MAX * 100

/** What the filter shows that is DEAD, counted by the service where it can be asked; or why there is nothing to do. */
async function batchOf(
  shown: Shown<DeliveryRow>,
  { side, client }: { side: Side; client: Client },
): Promise<Batch | string> {
  const { query, others } = scopeOf(shown.filter)
  const nothing = shown.filter === '' ? 'nothing is DEAD' : `nothing that "${shown.filter}" shows is DEAD`
  if (others.length > 0 || (side === 'merchant' && query.payment_id !== undefined)) {
    const dead = shown.rows.filter(({ status }) => status === 'DEAD')
    if (dead.length === 0) return nothing
    if (dead.length <= NAMED_MAX) return batchOfRows(dead.toReversed(), { side, isNamed: true, event: undefined })
    const ways = `DEAD with a whole event${side === 'platform' ? ', payment:<id> or merchant:<id>' : ''}`
    return `"${shown.filter}" shows ${dead.length} that are DEAD, and the service can't look for that: filter for ${ways}, or for ${NAMED_MAX} or fewer`
  }
  if (side === 'merchant') return (await batchAtOnce(client, query.event_type)) ?? nothing
  const rows = await Array.fromAsync(
    rowsOf(
      async (page) => (await call(client, listOutbox, { query: { ...query, status: 'DEAD', ...page } })).body,
      PAGES_MAX,
    ),
  )
  if (rows.length === 0) return nothing
  // A command has no word for a payment.
  return batchOfRows(rows.toReversed(), { side, isNamed: query.payment_id !== undefined, event: query.event_type })
}

const COUNTED_MAX = 10_000

/** A merchant's own in one request, where a server of thousands has been away. */
async function batchAtOnce(client: Client, event: Scope['event_type']): Promise<Batch | undefined> {
  const body = { status: 'DEAD' as const, ...(event === undefined ? {} : { event_type: event }) }
  const { matching: count } = (await call(client, replayWebhooks, { body: { ...body, dry_run: true } })).body
  if (count === 0) return undefined
  const what = event === undefined ? 'everything' : `every ${event}`
  const many = `${count >= COUNTED_MAX ? `${COUNTED_MAX} or more` : count} ${count === 1 ? 'delivery' : 'deliveries'}`
  return {
    command: (_row, { since }) => `svc webhooks replay --status DEAD${filterText(event, since)}`,
    ask: () => ({
      what: `send ${what} again that is DEAD: ${many}`,
      about: ['They are spread over some time, so that your server is not overrun.'],
      fields: [SINCE],
      last: ({ since }) => `sends ${what} again that is DEAD${since === undefined ? '' : `, created since ${since}`}`,
    }),
    async run(_row, { since }, doing) {
      const from = since === undefined ? {} : { since: parseTime(since, 'since') }
      const { body: done } = await call(doing.client, replayWebhooks, { body: { ...body, ...from } })
      return `replayed ${done.queued} of ${done.matching}${done.has_more ? '; there are more: again' : ''}`
    },
  }
}

function filterText(event: string | undefined, since: string | undefined): string {
  return `${event === undefined ? '' : ` --event ${event}`}${since === undefined ? '' : ` --since ${quoted(since)}`}`
}

/** What a batch of rows needs to know of them; named ones stand in the command by their ids. */
type Rows = { side: Side; isNamed: boolean; event: Scope['event_type'] }

/** Rows that are sent again one after the other, the oldest first. */
function batchOfRows(rows: readonly DeliveryRow[], { side, isNamed, event }: Rows): Batch {
  const many = manyOf(rows)
  const ofPlatform = side === 'platform'
  return {
    command(_row, given) {
      if (isNamed) return commandOf(rows, side, given)
      const realms = [...new Set(rows.map(({ realm_slug: realm, merchant_id: id }) => realm ?? id ?? ''))]
      const rest = `${filterText(event, given['since'])}${reasonText(given['reason'])}`
      return realms.map((realm) => `svc webhooks replay --status DEAD --merchant ${realm}${rest}`).join('\n')
    },
    ask: () => ({
      what: `send ${many} again`,
      about: [
        ...(rows.length >= DEAD_MAX ? [`These are the newest ${rows.length}; R again continues.`] : []),
        ...countsOf(rows),
        ...(ofPlatform ? ['Each of them is a replay of its own in the audit trail.'] : []),
      ],
      fields: ofPlatform ? (isNamed ? [REASON] : [SINCE, REASON]) : [],
      ...(ofPlatform ? { danger: [String(rows.length)] } : {}),
      last: ({ since }) =>
        `sends ${many} again${since === undefined ? '' : `, of them what was created since ${since}`}; Esc stops it on the way`,
      act: () => `replay ${rows.length}`,
    }),
    run: (_row, given, doing) => replayRows(rows, given, doing),
  }
}

/** `3 DEAD deliveries of Acme Ltd`; a merchant's own name no merchant. */
function manyOf(rows: readonly DeliveryRow[]): string {
  const names = [...new Set(rows.map(ownerText))]
  const whose = names.length === 1 ? names[0] : `${names.length} merchants`
  return `${rows.length} DEAD ${rows.length === 1 ? 'delivery' : 'deliveries'}${whose === '' ? '' : ` of ${whose}`}`
}

/** How many of each event, the most first. */
function countsOf(rows: readonly DeliveryRow[]): string[] {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const what = `${row.event_type}  ${ownerText(row)}`.trimEnd()
    counts.set(what, (counts.get(what) ?? 0) + 1)
  }
  return listed(
    [...counts].sort(([, one], [, other]) => other - one),
    ([what, count]) => `${count} x ${what}`,
  )
}

/** Closing the text stops it. @throws {CliError} as the service refuses one of them */
async function replayRows(
  rows: readonly DeliveryRow[],
  { since, reason }: Given,
  { client, watch }: Doing,
): Promise<string> {
  // All of these times are written alike, in UTC with milliseconds.
  const from = since === undefined ? '' : parseTime(since, 'since')
  const dead = rows.filter(({ created_at: at }) => at >= from)
  const shown = watch(`Replaying ${manyOf(dead)}`)
  const own = { ...client, signal: shown.signal }
  let done = 0
  const told = (): string => `${done} of ${dead.length} are sent again`
  try {
    for (const row of dead) {
      if (shown.signal.aborted) break
      shown.write([told(), '', 'Esc stops it; what is sent stays so.'])
      if (await replayIfDead(own, row, reason)) done += 1
    }
  } catch (error) {
    if (!shown.signal.aborted) {
      shown.end([told(), '', error instanceof Error ? error.message : String(error)])
      throw error
    }
  }
  if (shown.signal.aborted) return `stopped: ${told()}`
  shown.end([dead.length === 0 ? 'Nothing of it was created since then.' : `${told()}.`])
  return `replayed ${done} of ${dead.length}`
}

/** False where it is DEAD no more: another caller was quicker, or the try before this one. */
async function replayIfDead(client: Client, row: DeliveryRow, reason: string | undefined): Promise<boolean> {
  try {
    await replayOne(client, row, reason)
    return true
  } catch (error) {
    if (error instanceof CliError && error.code === 'DELIVERY_NOT_DEAD') return false
    throw error
  }
}
