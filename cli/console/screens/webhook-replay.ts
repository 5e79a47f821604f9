import { quoted } from '../../base/command-hints.ts'
import { replayIfDead } from '../../webhooks/replay-all.ts'
import { parseTime } from '../../base/times.ts'
import type { Field, Given } from '../model/modal.ts'
import type { Ask, Doing, ScreenKey } from '../screen.ts'
import { ownerText } from './merchant-text.ts'
import type { DeliveryRow } from './webhook-lines.ts'
import { deadByFilter } from './webhook-dead.ts'
import type { Dead } from './webhook-dead.ts'
import { hasDead } from './webhook-scope.ts'

/** What the filter shows of merchants' that is DEAD, one after the other, as `svc webhooks replay` does; closing it stops it. */
export const replayAllOfMerchants: ScreenKey<DeliveryRow> = {
  key: 'R',
  label: 'replay all dead',
  writes: true,
  permission: 'operate merchants',
  for: 'platform',
  on: 'list',
  needs: 'nothing',
  command: () => 'svc webhooks replay --all-merchants --status DEAD',
  ofShown: {
    offered: hasDead,
    async make(shown, { client }) {
      const dead = await deadByFilter(client, shown)
      return typeof dead === 'string' ? dead : keyOf(dead)
    },
  },
  run: async () => undefined,
}

function keyOf(dead: Dead): ScreenKey<DeliveryRow> {
  const { ofShown: _, ...key } = replayAllOfMerchants
  return {
    ...key,
    command: (_row, given) => commandOf(dead, given),
    ask: () => askOf(dead),
    run: (_row, given, doing) => replay(dead, given, doing),
  }
}

const SINCE: Field = { name: 'since', label: 'Created since, such as 2h or 2026-11-21', kind: 'line', optional: true }
const REASON: Field = { name: 'reason', label: 'Why', kind: 'line', optional: true }

function askOf({ rows, isNamed, isCut }: Dead): Ask {
  return {
    what: `send ${manyOf(rows)} again`,
    about: [
      ...(isCut ? [`These are the newest ${rows.length}; R again goes on.`] : []),
      ...countsOf(rows),
      'Each of them is a replay of its own in the audit trail.',
    ],
    fields: isNamed ? [REASON] : [SINCE, REASON],
    danger: [String(rows.length)],
    last: ({ since }) =>
      `sends ${manyOf(rows)} again${since === undefined ? '' : `, of them what was created since ${since}`}; Esc stops it on the way`,
    act: () => `replay ${rows.length}`,
  }
}

/** `3 DEAD deliveries of Acme Ltd`. */
function manyOf(rows: readonly DeliveryRow[]): string {
  const names = [...new Set(rows.map(ownerText))]
  const whose = names.length === 1 ? names[0] : `${names.length} merchants`
  return `${rows.length} DEAD ${rows.length === 1 ? 'delivery' : 'deliveries'} of ${whose}`
}

const LISTED_MAX = 5

/** How many of each event, the most first. */
function countsOf(rows: readonly DeliveryRow[]): string[] {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const what = `${row.event_type}  ${ownerText(row)}`
    counts.set(what, (counts.get(what) ?? 0) + 1)
  }
  const all = [...counts].sort(([, one], [, other]) => other - one).map(([what, count]) => `${count} x ${what}`)
  return [...all.slice(0, LISTED_MAX), ...(all.length > LISTED_MAX ? [`and ${all.length - LISTED_MAX} more`] : [])]
}

/** The same as commands: by their ids, or one for each merchant. */
function commandOf({ rows, event, isNamed }: Dead, { since, reason }: Given): string {
  const why = reason === undefined ? '' : ` --reason ${quoted(reason)}`
  if (isNamed) return `svc webhooks replay ${rows.map(({ id }) => id).join(' ')} --all-merchants${why}`
  const only = `${event === undefined ? '' : ` --event ${event}`}${since === undefined ? '' : ` --since ${quoted(since)}`}`
  const realms = [...new Set(rows.map(({ realm_slug: realm, merchant_id: id }) => realm ?? id ?? ''))]
  return realms.map((realm) => `svc webhooks replay --status DEAD --merchant ${realm}${only}${why}`).join('\n')
}

/** @throws {CliError} as the service refuses one of them */
async function replay({ rows }: Dead, { since, reason }: Given, { client, watch }: Doing): Promise<string> {
  // All of these times are written alike, in UTC with milliseconds.
  const from = since === undefined ? '' : parseTime(since, 'since')
  const dead = rows.filter(({ created_at: at }) => at >= from)
  const shown = watch(`Replaying ${manyOf(dead)}`)
  const own = { ...client, signal: shown.signal }
  let done = 0
  const told = (): string => `${done} of ${dead.length} are sent again`
  try {
    for (const { id, merchant_id: merchantId } of dead) {
      if (shown.signal.aborted) break
      shown.write([told(), '', 'Esc stops it; what is sent stays so.'])
      if (await replayIfDead(own, { id, merchantId: merchantId ?? '' }, reason)) done += 1
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
