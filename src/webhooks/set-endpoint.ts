import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { checkWebhookUrl } from './check-url.ts'
import { armWaiting, disarmQueued, findEndpoint, holdEndpoint, lockEndpoint, updateEndpoint } from './sql.ts'

/** Rows of one transaction: a merchant may have a week of deliveries waiting, and locks are not to be held for long. */
const BATCH_ROWS = 1_000

type EndpointApp = Pick<App, 'config' | 'pool' | 'wake'>
export type Endpoint = { webhook_url: string | null }

/**
 * The address that the merchant's webhooks go to; null when there is none.
 * @throws {DomainError} MERCHANT_NOT_FOUND
 */
export async function getEndpoint(app: Pick<App, 'pool'>, merchantId: string): Promise<Endpoint> {
  return (await app.pool.maybeOne(findEndpoint(merchantId))) ?? refuseUnknown()
}

/**
 * Sets the address that the merchant's webhooks go to, or removes it with null (decision 38). Setting one queues the
 * deliveries that waited for it and are younger than seven days; removing it takes what is queued out, to wait without
 * using an attempt. Setting the same address again is safe, and goes on where a crash interrupted the first time.
 * @throws {DomainError} VALIDATION_FAILED, MERCHANT_NOT_FOUND
 */
export async function setEndpoint(
  app: EndpointApp,
  input: { merchantId: string; webhookUrl: string | null },
): Promise<Endpoint> {
  const { merchantId, webhookUrl } = input
  if (webhookUrl !== null) checkWebhookUrl(webhookUrl, { allowPrivate: app.config.webhookAllowPrivate })
  await app.pool.transaction(async (tx) => {
    // Waits for transactions that are inserting deliveries without having seen the new address; those that come later
    // see it (migrations/0005_webhooks.sql, arm_late_webhook_delivery).
    if ((await tx.maybeOne(lockEndpoint(merchantId))) === null) refuseUnknown()
    await tx.query(updateEndpoint(merchantId, webhookUrl))
  })
  if (webhookUrl === null) await disarm(app, merchantId)
  else await arm(app, merchantId)
  return { webhook_url: webhookUrl }
}

function refuseUnknown(): never {
  throw new DomainError('MERCHANT_NOT_FOUND', 'there is no such merchant')
}

async function arm(app: EndpointApp, merchantId: string): Promise<void> {
  let behind = { created_at: '-infinity', id: '00000000-0000-0000-0000-000000000000' }
  for (;;) {
    const armed = await app.pool.transaction(async (tx) => {
      const { webhook_url } = await tx.one(holdEndpoint(merchantId))
      return webhook_url === null ? [] : tx.any(armWaiting(merchantId, behind, BATCH_ROWS))
    })
    if (armed.length > 0) app.wake.notify('deliver-webhooks')
    if (armed.length < BATCH_ROWS) return
    behind = armed.at(-1) ?? behind
  }
}

async function disarm(app: EndpointApp, merchantId: string): Promise<void> {
  for (;;) {
    const count = await app.pool.transaction(async (tx) => {
      const { webhook_url } = await tx.one(holdEndpoint(merchantId))
      return webhook_url === null ? (await tx.one(disarmQueued(merchantId, BATCH_ROWS))).count : 0
    })
    if (count < BATCH_ROWS) return
  }
}
