import { getWebhookEndpoint } from '../../webhooks/get-webhook-endpoint.ts'
import { checkWebhookEndpoint } from '../../webhooks/check-webhook-endpoint.ts'
import { getWebhook } from '../../webhooks/get-webhook.ts'
import { listWebhooks } from '../../webhooks/list-webhooks.ts'
import { listOutbox } from '../../webhooks/list-outbox.ts'
import type { DeliveryRecord, OutboxRecord } from '../../webhooks/record.ts'
import { replayForMerchant } from '../../webhooks/replay-for-merchant.ts'
import { replayWebhooks } from '../../webhooks/replay-webhooks.ts'
import { replayWebhook } from '../../webhooks/replay-webhook.ts'
import { putWebhookEndpoint } from '../../webhooks/put-webhook-endpoint.ts'
import { testWebhook } from '../../webhooks/test-webhook.ts'
import type * as wire from '../../wire/webhooks.ts'
import type { Handlers } from '../endpoint.ts'
import { merchantIdOf, merchantOf, operatorOf } from '../principal.ts'
import { viewOf } from '../view-of.ts'

export const webhooks: Handlers<typeof wire> = {
  /** GET /api/v1/portal/webhook-endpoint */
  async getWebhookEndpoint(app, { principal }) {
    return { status: 200, body: await getWebhookEndpoint(app, merchantIdOf(principal)) }
  },

  /** PUT /api/v1/portal/webhook-endpoint */
  async putWebhookEndpoint(app, { principal, body }) {
    const { merchantId, actor } = merchantOf(principal)
    const input = { merchantId, actor, webhookUrl: body.webhook_url, paused: body.paused }
    return { status: 200, body: await putWebhookEndpoint(app, input) }
  },

  /** POST /api/v1/portal/webhook-endpoint/check */
  async checkWebhookEndpoint(app, { principal }) {
    return { status: 200, body: await checkWebhookEndpoint(app, merchantIdOf(principal)) }
  },

  /** GET /api/v1/portal/webhooks */
  async listWebhooks(app, { principal, query }) {
    const merchantId = merchantIdOf(principal)
    const { status, event_type: eventType, payment_id: paymentId } = query
    const deliveries = await listWebhooks(app, { merchantId, status, eventType, paymentId })
    const { alert } = await getWebhookEndpoint(app, merchantId)
    return { status: 200, body: { data: deliveries.map(presentDelivery), has_more: false, next_cursor: null, alert } }
  },

  /** POST /api/v1/portal/webhooks/test */
  async testWebhook(app, { principal, body }) {
    const eventType = body?.event_type ?? 'payment.settled'
    const delivery = await testWebhook(app, { merchantId: merchantIdOf(principal), eventType })
    return { status: 202, body: presentDelivery(delivery) }
  },

  /** POST /api/v1/portal/webhooks/replay */
  async replayWebhooks(app, { principal, body }) {
    const { merchantId, actor } = merchantOf(principal)
    const { event_type: eventType, since, until, dry_run: dryRun } = body
    const { hasMore, ...counts } = await replayWebhooks(app, { merchantId, actor, eventType, since, until, dryRun })
    return { status: 202, body: { ...counts, has_more: hasMore } }
  },

  /** GET /api/v1/portal/webhooks/{id} */
  async getWebhook(app, { principal, params }) {
    const { delivery, attempts } = await getWebhook(app, { merchantId: merchantIdOf(principal), id: params.id })
    const body = { ...presentDelivery(delivery), payload: delivery.payload, attempts: [...attempts] }
    return { status: 200, body }
  },

  /** POST /api/v1/portal/webhooks/{id}/replay */
  async replayWebhook(app, { principal, params }) {
    const delivery = await replayWebhook(app, { merchantId: merchantIdOf(principal), id: params.id })
    return { status: 200, body: presentDelivery(delivery) }
  },

  /** GET /api/v1/admin/outbox */
  async listOutbox(app, { principal, query }) {
    const view = viewOf(operatorOf(principal))
    const { deliveries, nextCursor } = await listOutbox(app, query)
    return {
      status: 200,
      body: {
        data: deliveries.map((each) => view(presentForOperators(each))),
        has_more: nextCursor !== null,
        next_cursor: nextCursor,
      },
    }
  },

  /** POST /api/v1/admin/merchants/{id}/webhooks/{deliveryId}/replay */
  async replayForMerchant(app, { principal, params, body }) {
    const { actor } = operatorOf(principal)
    const input = { merchantId: params.id, id: params.deliveryId, actor, reason: body?.reason }
    return { status: 200, body: presentForOperators(await replayForMerchant(app, input)) }
  },
}

function presentDelivery(delivery: DeliveryRecord): wire.Delivery {
  return {
    id: delivery.id,
    event_id: delivery.event_id,
    event_type: delivery.event_type,
    payment_id: delivery.payment_intent_id,
    status: delivery.status,
    last_http_status: delivery.last_http_status,
    last_error: delivery.last_error,
    attempt_count: delivery.attempt_count,
    next_retry_at: delivery.next_retry_at,
    delivered_at: delivery.delivered_at,
    created_at: delivery.created_at,
  }
}

type OfMerchant = DeliveryRecord & Pick<OutboxRecord, 'merchant_id' | 'realm_slug' | 'trading_name'>

function presentForOperators(delivery: OfMerchant): wire.AdminDelivery {
  const { merchant_id, realm_slug, trading_name } = delivery
  return { ...presentDelivery(delivery), merchant_id, realm_slug, trading_name }
}
