import { replayForMerchant, replayWebhook } from '../../../src/wire/webhooks.ts'
import { quoted } from '../../base/command-hints.ts'
import { call } from '../../client/call.ts'
import { endOfId } from '../../base/text.ts'
import { TEST_ACTIONS } from '../../webhooks/endpoint-actions.ts'
import { actionKeys } from '../action-key.ts'
import type { ScreenKey } from '../screen.ts'
import { explainText, listed, ownerText } from './merchant-text.ts'
import { rotateSecretKey } from './secret-key.ts'
import { bodyLines } from './webhook-lines.ts'
import type { DeliveryRow } from './webhook-lines.ts'
import { readWhole } from './webhook-read.ts'
import { replayAllOwn } from './webhook-replay-own.ts'
import { replayAllOfMerchants } from './webhook-replay.ts'

function named(rows: readonly DeliveryRow[]): string {
  const [row] = rows
  return rows.length === 1 && row !== undefined ? `${row.event_type} (${endOfId(row.id)})` : `${rows.length} deliveries`
}

const replayOwn: ScreenKey<DeliveryRow> = {
  key: 'r',
  label: 'replay',
  writes: true,
  permission: 'manage webhooks',
  for: 'merchant',
  fits: ({ status }) => status === 'DEAD',
  facts: ({ status }) => status,
  command: ({ id }) => `svc webhooks replay ${id}`,
  ask: (rows) => ({
    what: `send ${named(rows)} again, from the first attempt`,
    about: rows.length === 1 ? [] : listed(rows, (row) => `${row.event_type}  ${endOfId(row.id)}`),
  }),
  optimistic: pending,
  async run({ id }, _given, { client }) {
    await call(client, replayWebhook, { params: { id } })
    return `replayed ${endOfId(id)}`
  },
}

const replayOfMerchant: ScreenKey<DeliveryRow> = {
  key: 'r',
  label: 'replay',
  writes: true,
  permission: 'operate merchants',
  for: 'platform',
  fits: ({ status }) => status === 'DEAD',
  facts: ({ status }) => status,
  command: ({ id }, { reason }) =>
    `svc webhooks replay ${id} --all-merchants${reason === undefined ? '' : ` --reason ${quoted(reason)}`}`,
  ask: (rows) => ({
    what: `send ${named(rows)} again, from the first attempt`,
    about: listed(rows, (row) => `${ownerText(row)}  ${row.event_type}  ${endOfId(row.id)}`),
    fields: [{ name: 'reason', label: 'Why', kind: 'line', optional: true }],
  }),
  optimistic: pending,
  async run({ id: deliveryId, merchant_id: merchantId }, { reason }, { client }) {
    const params = { id: merchantId ?? '', deliveryId }
    await call(client, replayForMerchant, { params, body: reason === undefined ? {} : { reason } })
    return `replayed ${endOfId(deliveryId)}`
  },
}

function pending(row: DeliveryRow): DeliveryRow {
  return { ...row, status: 'PENDING', attempt_count: 0, next_retry_at: new Date().toISOString() }
}

/** Those of the list that are dead. */
const filterDead: ScreenKey<DeliveryRow> = {
  key: 'D',
  label: 'dead only',
  on: 'list',
  needs: 'nothing',
  command: (_row, _given, { kind }) =>
    `svc webhooks list${kind === 'platform' ? ' --all-merchants' : ''} --status DEAD`,
  async run(_row, _given, { go }) {
    go('webhooks', { filter: 'DEAD' })
    return undefined
  },
}

/** What was sent and answered. Operators may not read it: the story of it stands in the detail. */
const bodies: ScreenKey<DeliveryRow> = {
  key: 'd',
  label: 'bodies',
  for: 'merchant',
  needs: 'one',
  command: ({ id }) => `svc webhooks show ${id}`,
  async run({ id, event_type: event }, _given, { client, who, show }) {
    const whole = await readWhole({ client, who, arg: id })
    show(`${event} (${endOfId(id)})`, bodyLines(whole))
    return undefined
  },
}

const payment: ScreenKey<DeliveryRow> = {
  key: 'o',
  label: 'its payment',
  needs: 'one',
  fits: ({ payment_id: id }) => id !== null,
  command: ({ payment_id: id }, _given, { kind }) => explainText(id ?? '', kind),
  async run({ payment_id: id }, _given, { go }) {
    if (id !== null) go('payments', { open: id })
    return undefined
  },
}

/** What can be done about deliveries; each stands as a command of `svc webhooks` too. */
export const WEBHOOK_KEYS: readonly ScreenKey<DeliveryRow>[] = [
  replayOwn,
  replayOfMerchant,
  replayAllOwn,
  replayAllOfMerchants,
  filterDead,
  ...actionKeys(TEST_ACTIONS, { get: (row: DeliveryRow) => row, set: (row) => row }),
  rotateSecretKey,
  bodies,
  payment,
]
