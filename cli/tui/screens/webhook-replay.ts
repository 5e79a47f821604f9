import { quoted } from '../../called-as.ts'
import { deadOf, replayIfDead } from '../../commands/outbox/replay-all.ts'
import type { Doing, ScreenKey } from '../screen.ts'
import { ownerText } from './merchant-text.ts'
import type { DeliveryRow } from './webhook-lines.ts'

/** All of a merchant's that are DEAD, one after the other, as `svc outbox replay` does; closing it stops it. */
export const replayAllOfMerchant: ScreenKey<DeliveryRow> = {
  key: 'R',
  label: 'replay all its dead',
  writes: true,
  permission: 'operate merchants',
  for: 'platform',
  on: 'list',
  needs: 'one',
  fits: ({ merchant_id: id }) => id !== null,
  command: ({ realm_slug: realm, merchant_id: id }, { reason }) =>
    `svc outbox replay --status DEAD --merchant ${realm ?? id ?? ''}${reason === undefined ? '' : ` --reason ${quoted(reason)}`}`,
  ask: ([row]) => ({
    what: `send everything of ${nameOf(row)} again that is DEAD`,
    fields: [{ name: 'reason', label: 'Why', kind: 'line', optional: true }],
    last: () => `sends everything of ${nameOf(row)} again that is DEAD; Esc stops it on the way`,
  }),
  run: (row, { reason }, doing) => replayAll(row, reason, doing),
}

function nameOf(row: DeliveryRow | undefined): string {
  return row === undefined ? '' : ownerText(row)
}

/** @throws {CliError} as the service refuses one of them */
async function replayAll(row: DeliveryRow, reason: string | undefined, { client, watch }: Doing): Promise<string> {
  const merchantId = row.merchant_id ?? ''
  const shown = watch(`Replaying what is DEAD of ${ownerText(row)}`)
  const own = { ...client, signal: shown.signal }
  let [done, total] = [0, 0]
  const told = (): string => `${done} of ${total} are sent again`
  try {
    const dead = await deadOf(own, { merchantId, event: undefined })
    total = dead.length
    for (const { id } of dead) {
      if (shown.signal.aborted) break
      shown.write([told(), '', 'Esc stops it; what is sent stays so.'])
      if (await replayIfDead(own, { id, merchantId }, reason)) done += 1
    }
  } catch (error) {
    if (!shown.signal.aborted) {
      shown.end([told(), '', error instanceof Error ? error.message : String(error)])
      throw error
    }
  }
  if (shown.signal.aborted) return `stopped: ${told()}`
  shown.end([total === 0 ? 'Nothing of it is DEAD.' : `${told()}.`])
  return total === 0 ? `nothing of ${ownerText(row)} is DEAD` : `replayed ${done} of ${total} of ${ownerText(row)}`
}
