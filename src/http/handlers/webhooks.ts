import { getEndpoint as readEndpoint } from '../../webhooks/alerts.ts'
import { checkEndpoint as probeEndpoint } from '../../webhooks/check-endpoint.ts'
import { getDelivery } from '../../webhooks/get-delivery.ts'
import { listDeliveries } from '../../webhooks/list-deliveries.ts'
import { listOutbox as findOutbox } from '../../webhooks/list-outbox.ts'
import { readFeed } from '../../webhooks/read-feed.ts'
import type { DeliveryRecord, OutboxRecord } from '../../webhooks/record.ts'
import { replayForMerchant as replayForIt } from '../../webhooks/replay-for-merchant.ts'
import { replayMany as replayDead } from '../../webhooks/replay-many.ts'
import { replay as replayDelivery } from '../../webhooks/replay.ts'
import { setEndpoint } from '../../webhooks/set-endpoint.ts'
import { testWebhook } from '../../webhooks/test-webhook.ts'
import type * as wire from '../../wire/webhooks.ts'
import type { Handler } from '../endpoint.ts'
import { merchantIdOf, merchantOf, operatorOf } from '../principal.ts'
import { viewOf } from '../view-of.ts'

/** GET /api/v1/portal/webhook-endpoint */
export const getEndpoint: Handler<typeof wire.getWebhookEndpoint> = async (app, { principal }) => {
  return { status: 200, body: await readEndpoint(app, merchantIdOf(principal)) }
}

/** PUT /api/v1/portal/webhook-endpoint */
export const putEndpoint: Handler<typeof wire.putWebhookEndpoint> = async (app, { principal, body }) => {
  const { merchantId, actor } = merchantOf(principal)
  const wish = { merchantId, actor, webhookUrl: body.webhook_url, paused: body.paused }
  return { status: 200, body: await setEndpoint(app, wish) }
}

/** POST /api/v1/portal/webhook-endpoint/check */
export const checkEndpoint: Handler<typeof wire.checkWebhookEndpoint> = async (app, { principal }) => {
  return { status: 200, body: await probeEndpoint(app, merchantIdOf(principal)) }
}

/** GET /api/v1/portal/webhooks */
export const listWebhooks: Handler<typeof wire.listWebhooks> = async (app, { principal, query }) => {
  const merchantId = merchantIdOf(principal)
  const { status, event_type: eventType, payment_id: paymentId } = query
  const deliveries = await listDeliveries(app, { merchantId, status, eventType, paymentId })
  const { alert } = await readEndpoint(app, merchantId)
  return { status: 200, body: { data: deliveries.map(presentDelivery), has_more: false, next_cursor: null, alert } }
}

/** POST /api/v1/portal/webhooks/test */
export const test: Handler<typeof wire.testWebhook> = async (app, { principal, body }) => {
  const eventType = body?.event_type ?? 'payment.settled'
  const delivery = await testWebhook(app, { merchantId: merchantIdOf(principal), eventType })
  return { status: 202, body: presentDelivery(delivery) }
}

/** POST /api/v1/portal/webhooks/replay */
export const replayMany: Handler<typeof wire.replayWebhooks> = async (app, { principal, body }) => {
  const { merchantId, actor } = merchantOf(principal)
  const { event_type: eventType, since, until, dry_run: dryRun } = body
  const { hasMore, ...counts } = await replayDead(app, { merchantId, actor, eventType, since, until, dryRun })
  return { status: 202, body: { ...counts, has_more: hasMore } }
}

/** GET /api/v1/portal/webhooks/{id} */
export const getWebhook: Handler<typeof wire.getWebhook> = async (app, { principal, params }) => {
  const { delivery, attempts } = await getDelivery(app, { merchantId: merchantIdOf(principal), id: params.id })
  const body = { ...presentDelivery(delivery), payload: delivery.payload, attempts: [...attempts] }
  return { status: 200, body }
}

/** POST /api/v1/portal/webhooks/{id}/replay */
export const replay: Handler<typeof wire.replayWebhook> = async (app, { principal, params }) => {
  const delivery = await replayDelivery(app, { merchantId: merchantIdOf(principal), id: params.id })
  return { status: 200, body: presentDelivery(delivery) }
}

/** GET /api/v1/portal/events */
export const listEvents: Handler<typeof wire.listEvents> = async (app, { principal, query }) => {
  const { events, nextCursor } = await readFeed(app, {
    merchantId: merchantIdOf(principal),
    after: query.after,
    limit: query.limit,
  })
  return { status: 200, body: { data: events, next_cursor: nextCursor } }
}

/** GET /api/v1/admin/outbox */
export const listOutbox: Handler<typeof wire.listOutbox> = async (app, { principal, query }) => {
  const view = viewOf(operatorOf(principal))
  const { deliveries, nextCursor } = await findOutbox(app, query)
  return {
    status: 200,
    body: {
      data: deliveries.map((each) => view(presentForOperators(each))),
      has_more: nextCursor !== null,
      next_cursor: nextCursor,
    },
  }
}

/** POST /api/v1/admin/merchants/{id}/webhooks/{deliveryId}/replay */
export const replayForMerchant: Handler<typeof wire.replayForMerchant> = async (app, { principal, params, body }) => {
  const { actor } = operatorOf(principal)
  const input = { merchantId: params.id, id: params.deliveryId, actor, reason: body?.reason }
  return { status: 200, body: presentForOperators(await replayForIt(app, input)) }
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
