import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import type { EndpointCheck, WebhookEndpoint } from '../wire/webhooks.ts'
import { getWebhookEndpoint } from './get-webhook-endpoint.ts'
import { endpointNotSet, merchantNotFound } from './endpoint-errors.ts'
import { SCHEDULE_BATCH_ROWS } from './schedule-waiting-deliveries.ts'
import { holdEndpoint, lockEndpoint, updateEndpoint } from './endpoint-sql.ts'
import type { Address } from './endpoint-sql.ts'
import { scheduleWaiting, moveQueuedToWaiting } from './waiting-sql.ts'
import { checkWebhookUrl } from './sending/check-url.ts'

/** Rows of one transaction: locks are not to be held for long. */
const WAITING_BATCH_ROWS = 1_000

/** And as many of them as a request may wait for. */
const WAITING_BATCHES_MAX = 20

type EndpointApp = Pick<App, 'config' | 'pool' | 'ids' | 'wake' | 'probe'>

/** What is to change; an absent member stays as it is. */
export type SetEndpointInput = {
  merchantId: string
  actor: Actor
  /** Null removes it, paused or not. */
  webhookUrl?: string | null | undefined
  paused?: boolean | undefined
}

/**
 * Sets the address that the merchant's webhooks go to, removes it, pauses it, or resumes it (decision 38). An address
 * that goes live queues the deliveries that waited for it and are younger than seven days; one that is paused or removed
 * takes what is queued out, to wait without using an attempt. The same request again is safe, and goes on where a crash
 * interrupted the first time. An address is set whether or not it answers: merchants set it before they deploy. `check`
 * is null where no address was given, or too many are being checked.
 * @throws {DomainError} VALIDATION_FAILED, MERCHANT_NOT_FOUND, WEBHOOK_ENDPOINT_NOT_SET for a pause without an address
 */
export async function putWebhookEndpoint(
  app: EndpointApp,
  input: SetEndpointInput,
): Promise<WebhookEndpoint & { check: EndpointCheck | null }> {
  const { merchantId, webhookUrl } = input
  if (typeof webhookUrl === 'string') checkWebhookUrl(webhookUrl, { allowPrivate: app.config.webhookAllowPrivate })
  const { address, armed } = await app.pool.transaction((tx) => change(app, tx, input))
  if (address.webhook_url === null) await moveQueueToWaiting(app, merchantId)
  else wakeJobs(app, armed)
  const check = typeof webhookUrl === 'string' ? await app.probe.probe(webhookUrl, merchantId) : null
  return { ...(await getWebhookEndpoint(app, merchantId)), check }
}

/**
 * Writes the endpoint. One that goes live arms the oldest that wait in the same transaction: an event that is inserted
 * after it then finds the earlier ones of its payment queued before it. The job `arm-deliveries` goes on behind them.
 * `armed` is undefined where the endpoint did not go live now.
 */
async function change(
  app: EndpointApp,
  tx: DatabaseTransactionConnection,
  input: SetEndpointInput,
): Promise<{ address: Address; armed: number | undefined }> {
  const { merchantId, actor } = input
  // Waits for transactions that are inserting deliveries without having seen the new address; those that come later
  // see it (migrations/functions/arm_late_webhook_delivery.sql).
  const before = await tx.maybeOne(lockEndpoint(merchantId))
  if (before === null) throw merchantNotFound()
  const address = changedAddress(before, input)
  const isSame = before.webhook_url === address.webhook_url && before.paused_webhook_url === address.paused_webhook_url
  if (isSame) return { address, armed: undefined }
  await tx.query(updateEndpoint(merchantId, address))
  const goesLive = before.webhook_url === null && address.webhook_url !== null
  const armed = goesLive ? (await tx.one(scheduleWaiting(merchantId, SCHEDULE_BATCH_ROWS))).count : undefined
  await recordAction(app, tx, {
    actor,
    action: 'webhook.endpoint',
    merchantId,
    subjectId: merchantId,
    before: auditedAddress(before),
    after: auditedAddress(address),
  })
  return { address, armed }
}

function changedAddress(before: Address, { webhookUrl, paused }: SetEndpointInput): Address {
  const url = webhookUrl === undefined ? (before.webhook_url ?? before.paused_webhook_url) : webhookUrl
  if (url === null) {
    // Removing what is not there is done; pausing and resuming it is not.
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

/** An address as the audit trail keeps it: whatever stands behind the path, or before the host, may be a secret. */
function withoutSecrets(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

/** Wakes who delivers what was armed, and who arms the rest, also what a crash between the two has left. */
function wakeJobs(app: EndpointApp, armed: number | undefined): void {
  if (armed !== 0) app.wake.notify('deliver-webhooks')
  if (armed === undefined || armed === SCHEDULE_BATCH_ROWS) app.wake.notify('arm-deliveries')
}

/** What is left queued behind these is parked by the worker that claims it when it is due (move-to-waiting.ts). */
async function moveQueueToWaiting(app: EndpointApp, merchantId: string): Promise<void> {
  for (let batch = 0; batch < WAITING_BATCHES_MAX; batch += 1) {
    const count = await app.pool.transaction(async (tx) => {
      const { webhook_url } = await tx.one(holdEndpoint(merchantId))
      return webhook_url === null ? (await tx.one(moveQueuedToWaiting(merchantId, WAITING_BATCH_ROWS))).count : 0
    })
    if (count < WAITING_BATCH_ROWS) return
  }
}
