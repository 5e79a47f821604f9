import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import type { EndpointCheck, WebhookEndpoint } from '../wire/webhooks.ts'
import { getWebhookEndpoint } from './get-webhook-endpoint.ts'
import { endpointNotSet, merchantNotFound } from './endpoint-errors.ts'
import { lockEndpointShared, lockEndpoint, updateEndpoint } from './endpoint-sql.ts'
import type { Address } from './endpoint-sql.ts'
import { WAITING_BATCH_ROWS, moveQueuedToWaiting, scheduleWaiting } from './waiting-sql.ts'
import { checkWebhookUrl } from './sending/check-url.ts'

/** The number of transactions that a request may wait for. */
const WAITING_BATCHES_MAX = 20

type EndpointApp = Pick<App, 'config' | 'pool' | 'ids' | 'wake' | 'probe'>

/** The change; omitted members stay as they are. */
export type PutWebhookEndpointInput = {
  merchantId: string
  actor: Actor
  /** Null removes it, paused or not. */
  webhookUrl?: string | null | undefined
  paused?: boolean | undefined
}

/**
 * Sets, removes, pauses or resumes the merchant's webhook address (decision 38). An address that becomes active
 * schedules the waiting deliveries that are younger than seven days; pausing or removing it moves queued deliveries out
 * of the queue, to wait for an endpoint without using an attempt. Repeating a request is safe, and continues after a
 * crash. The address is set whether or not it responds: merchants set it before they deploy. `check` is null without a
 * new address, or when too many checks are running.
 * @throws {DomainError} VALIDATION_FAILED, MERCHANT_NOT_FOUND, WEBHOOK_ENDPOINT_NOT_SET for a pause without an address
 */
export async function putWebhookEndpoint(
  app: EndpointApp,
  input: PutWebhookEndpointInput,
): Promise<WebhookEndpoint & { check: EndpointCheck | null }> {
  const { merchantId, webhookUrl } = input
  if (typeof webhookUrl === 'string') checkWebhookUrl(webhookUrl, { allowPrivate: app.config.webhookAllowPrivate })
  const { address, scheduled } = await app.pool.transaction((tx) => change(app, tx, input))
  if (address.webhook_url === null) await moveQueueToWaiting(app, merchantId)
  else wakeJobs(app, scheduled)
  const check = typeof webhookUrl === 'string' ? await app.probe.probe(webhookUrl, merchantId) : null
  return { ...(await getWebhookEndpoint(app, merchantId)), check }
}

/**
 * Updates the endpoint. When it becomes active, the oldest waiting deliveries are scheduled in the same transaction: an
 * event that is inserted later then finds the earlier ones of its payment queued before it. The job `schedule-deliveries`
 * schedules the rest. `scheduled` is undefined when the endpoint did not become active now.
 */
async function change(
  app: EndpointApp,
  tx: DatabaseTransactionConnection,
  input: PutWebhookEndpointInput,
): Promise<{ address: Address; scheduled: number | undefined }> {
  const { merchantId, actor } = input
  // Waits for transactions that insert deliveries without seeing the new address; later ones see it
  // (migrations/functions/queue_late_webhook_delivery.sql).
  const before = await lockEndpoint(tx, merchantId)
  if (before === null) throw merchantNotFound()
  const address = changedAddress(before, input)
  const isSame = before.webhook_url === address.webhook_url && before.paused_webhook_url === address.paused_webhook_url
  if (isSame) return { address, scheduled: undefined }
  await updateEndpoint(tx, merchantId, address)
  const goesLive = before.webhook_url === null && address.webhook_url !== null
  const scheduled = goesLive ? (await scheduleWaiting(tx, merchantId, WAITING_BATCH_ROWS)).count : undefined
  await recordAction(app, tx, {
    actor,
    action: 'webhook.endpoint',
    merchantId,
    subjectId: merchantId,
    before: auditedAddress(before),
    after: auditedAddress(address),
  })
  return { address, scheduled }
}

function changedAddress(before: Address, { webhookUrl, paused }: PutWebhookEndpointInput): Address {
  const url = webhookUrl === undefined ? (before.webhook_url ?? before.paused_webhook_url) : webhookUrl
  if (url === null) {
    // Removing a missing endpoint succeeds; pausing or resuming it does not.
    if (paused === true || webhookUrl === undefined) throw endpointNotSet()
    return { webhook_url: null, paused_webhook_url: null }
  }
  const isPaused = paused ?? before.paused_webhook_url !== null
  return isPaused ? { webhook_url: null, paused_webhook_url: url } : { webhook_url: url, paused_webhook_url: null }
}

function auditedAddress({ webhook_url, paused_webhook_url }: Address): { webhook_url: string | null; paused: boolean } {
  const url = webhook_url ?? paused_webhook_url
  return { webhook_url: url === null ? null : withoutSecrets(url), paused: paused_webhook_url !== null }
}

/** An address for the audit trail: everything after the path, or before the host, may be a secret. */
function withoutSecrets(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

/**
 * Wakes the job that delivers the scheduled rows, and the one that schedules the rest, including leftovers of a crash.
 */
function wakeJobs(app: EndpointApp, scheduled: number | undefined): void {
  if (scheduled !== 0) app.wake.notify('deliver-webhooks')
  if (scheduled === undefined || scheduled === WAITING_BATCH_ROWS) app.wake.notify('schedule-deliveries')
}

/** Any remaining queued rows are moved by the worker that claims them when due (move-to-waiting.ts). */
async function moveQueueToWaiting(app: EndpointApp, merchantId: string): Promise<void> {
  for (let batch = 0; batch < WAITING_BATCHES_MAX; batch += 1) {
    const count = await app.pool.transaction(async (tx) => {
      const endpoint = await lockEndpointShared(tx, merchantId)
      return endpoint?.webhook_url == null ? (await moveQueuedToWaiting(tx, merchantId, WAITING_BATCH_ROWS)).count : 0
    })
    if (count < WAITING_BATCH_ROWS) return
  }
}
