import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { makeApp } from '../../src/app.ts'
import type { App } from '../../src/app.ts'
import { readConfig } from '../../src/config/read.ts'
import type { Config } from '../../src/config/config.ts'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { generateMasterKey } from '../../src/lib/seal.ts'
import { scheduleWaitingDeliveries } from '../../src/webhooks/schedule-waiting-deliveries.ts'
import { runDeliveries } from '../../src/webhooks/run-deliveries.ts'
import type { Deliveries } from '../../src/webhooks/run-deliveries.ts'
import { bySocket } from './cluster.ts'
import { testDatabase } from './database.ts'
import { retryUnavailable } from './retry.ts'

type Test = { teardown(handler: () => Promise<void>): unknown }

/** An app over this database, quiet unless SVC_TEST_LOG says otherwise. */
export async function makeOutboxApp(options: {
  url: string
  encryptionKey: string
  config?: Partial<Config>
}): Promise<App> {
  const environment = {
    SVC_DATABASE_URL: options.url,
    SVC_DATABASE_POOL: '4',
    SVC_DATABASE_TIMEOUT_FACTOR: '4',
    SVC_ENCRYPTION_KEY: options.encryptionKey,
    SVC_LOG_LEVEL: process.env['SVC_TEST_LOG'] ?? 'silent',
  }
  return retryUnavailable(() => makeApp({ ...readConfig(environment), ...options.config }))
}

/** A database, an app on it, and a connection of the tables' owner to plant rows and look at them. */
export async function makeOutbox(t: Test, config: Partial<Config> = {}) {
  const { url } = await testDatabase(t)
  const encryptionKey = generateMasterKey()
  const owner = await retryUnavailable(() => makeAdminConnection({ databaseUrl: bySocket(url) }))
  t.teardown(async () => owner.end())
  const app = await makeOutboxApp({ url: bySocket(url), encryptionKey, config })
  t.teardown(() => app.close())
  return { url, encryptionKey, owner, app }
}

/** Delivers until the test ends. */
export function startDeliveries(t: Test, app: App, options: Parameters<typeof runDeliveries>[1] = {}): Deliveries {
  const deliveries = runDeliveries(app, options)
  t.teardown(() => deliveries.stop())
  return deliveries
}

/** Runs the job that schedules what still waits although its merchant has an endpoint, until nothing is left to schedule. */
export async function scheduleAll(app: App): Promise<void> {
  while ((await scheduleWaitingDeliveries(app, new AbortController().signal)).more);
}

type MerchantInput = { owner: pg.Client; app: Pick<App, 'sealer'>; webhookUrl: string | null; secret?: string }

/** A merchant with this endpoint; the secret is 64 hex characters. */
export async function plantMerchant({
  owner,
  app,
  webhookUrl,
  secret = 'a'.repeat(64),
}: MerchantInput): Promise<string> {
  const id = randomUUID()
  const sealed = app.sealer.seal(secret, {
    table: 'merchants',
    column: 'webhook_signing_secret',
    rowId: id,
    merchantId: id,
  })
  await owner.query(
    `insert into merchants (id, client_id, legal_name, trading_name, name, kyb_status, fee_percentage, fee_flat, webhook_url, webhook_signing_secret)
     values ($1::uuid, $1::text, 'Shop', 'Shop', 'Shop', 'APPROVED', 0.01, 0, $2, $3)`,
    [id, webhookUrl, sealed],
  )
  await owner.query(
    `insert into merchant_client (client_id, merchant_id, kind, role, created_by) values ($1::text, $1::uuid, 'server', 'ADMIN', 'test')`,
    [id],
  )
  return id
}

type Plant = {
  count?: number
  sequence?: number
  nextRetryAt?: string
  paymentId?: string | null
  createdAt?: string
  payload?: string
}

/** Deliveries of a merchant; those that are due are queued by the table's own trigger. Returns their ids in order. */
export async function plantDeliveries(owner: pg.Client, merchantId: string, plant: Plant = {}): Promise<string[]> {
  const { count = 1, sequence = 1, nextRetryAt, paymentId = null, createdAt = 'now', payload } = plant
  const { rows } = await owner.query<{ id: string }>(
    `insert into webhook_deliveries (id, merchant_id, payment_intent_id, event_id, event_type, payload, next_retry_at, sequence, created_at)
     select gen_random_uuid(), $1, $4, e.event_id, 'payment.settled', coalesce($7, '{"eventId": "' || e.event_id || '",  "n":' || n || '}')::json,
       coalesce($3::timestamptz, now()), $5, $6::timestamptz
     from generate_series(1, $2::int) as n,
       lateral (select 'evt_1700000000000_' || substr(md5(random()::text || n), 1, 16) as event_id) e
     returning id`,
    [merchantId, count, nextRetryAt ?? null, paymentId, sequence, createdAt, payload ?? null],
  )
  return rows.map(({ id }) => id)
}

/** DEAD deliveries of a merchant, a second apart from `from` on. Returns their ids, the oldest first. */
export async function plantDead(
  owner: pg.Client,
  merchantId: string,
  plant: { count?: number; from?: string; eventType?: string } = {},
): Promise<string[]> {
  const { count = 1, from = '2026-01-01T00:00:00Z', eventType = 'payment.settled' } = plant
  const { rows } = await owner.query<{ id: string }>(
    `insert into webhook_deliveries (id, merchant_id, event_id, event_type, payload, status, attempt_count, next_retry_at,
       last_http_status, last_error, created_at)
     select gen_random_uuid(), $1, 'evt_1700000000000_' || substr(md5(random()::text || n), 1, 16), $4, '{"eventId":"dead"}',
       'DEAD', 6, 'infinity', 500, 'http_500', $3::timestamptz + (n - 1) * interval '1 second'
     from generate_series(1, $2::int) as n
     returning id`,
    [merchantId, count, from, eventType],
  )
  return rows.map(({ id }) => id)
}

/** A payment to hang deliveries on, with nothing of its own to say. */
export async function plantPayment(owner: pg.Client, merchantId: string): Promise<string> {
  const id = randomUUID()
  const consentId = randomUUID()
  await owner.query(
    `insert into payment_consents (id, merchant_id, consent_type, status, amount, currency, expires_at)
     values ($1, $2, 'SINGLE_IMMEDIATE', 'AWAITING_AUTHORISATION', 10, 'GBP', now() + interval '1 hour')`,
    [consentId, merchantId],
  )
  await owner.query(
    `insert into payment_intents (id, merchant_id, consent_id, idempotency_key, request_fingerprint, amount, gross_amount, fee_amount,
       net_amount, fee_percentage, fee_flat, currency, status, end_to_end_id, bank_consent_id, bank_connector, redirect_uri)
     values ($1::uuid, $2, $3, $1::text, repeat('0', 64), 10, 10, 1, 9, 0.1, 0, 'GBP', 'AwaitingAuthorisation',
       'SVC' || replace($1::text, '-', ''), $1::text, 'mock', 'https://shop.example/')`,
    [id, merchantId, consentId],
  )
  return id
}

export type DeliveryRow = {
  id: string
  event_id: string
  status: string
  attempt_count: number
  last_http_status: number | null
  last_error: string | null
  next_retry_at: string
  delivered_at: string | null
  payload: string
}

export async function readDelivery(owner: pg.Client, id: string): Promise<DeliveryRow> {
  const { rows } = await owner.query<DeliveryRow>(
    `select id, event_id, status, attempt_count, last_http_status, last_error, next_retry_at, delivered_at, payload::text as payload
     from webhook_log where id = $1`,
    [id],
  )
  if (!rows[0]) throw new Error(`no delivery ${id}`)
  return rows[0]
}

/** Whether no delivery of the database is queued any more. */
export async function queueIsEmpty(owner: pg.Client): Promise<boolean> {
  const { rows } = await owner.query<{ count: number }>('select count(*)::int4 as count from webhook_queue')
  return rows[0]?.count === 0
}

export async function countByStatus(owner: pg.Client): Promise<Record<string, number>> {
  const { rows } = await owner.query<{ status: string; count: number }>(
    'select status::text, count(*)::int4 as count from webhook_log group by 1',
  )
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
}

/** Makes everything due now, as if the delays had passed. */
export async function passDelays(owner: pg.Client): Promise<void> {
  await owner.query(`update webhook_deliveries set next_retry_at = now() where status = 'FAILED'`)
  await owner.query('update webhook_queue set due_at = now()')
}
