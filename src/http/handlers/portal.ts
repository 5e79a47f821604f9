import { listDeliveries } from '../../webhooks/list-deliveries.ts'
import type { DeliveryRecord } from '../../webhooks/record.ts'
import { readFeed } from '../../webhooks/read-feed.ts'
import { replay as replayDelivery } from '../../webhooks/replay.ts'
import { getEndpoint as readEndpoint, setEndpoint } from '../../webhooks/set-endpoint.ts'
import type * as wire from '../../wire/portal.ts'
import type { Handler } from '../endpoint.ts'
import { merchantIdOf } from '../principal.ts'

/** GET /api/v1/portal/webhook-endpoint */
export const getEndpoint: Handler<typeof wire.getWebhookEndpoint> = async (app, { principal }) => {
  return { status: 200, body: await readEndpoint(app, merchantIdOf(principal)) }
}

/** PUT /api/v1/portal/webhook-endpoint */
export const putEndpoint: Handler<typeof wire.putWebhookEndpoint> = async (app, { principal, body }) => {
  return {
    status: 200,
    body: await setEndpoint(app, { merchantId: merchantIdOf(principal), webhookUrl: body.webhook_url }),
  }
}

/** GET /api/v1/portal/webhooks */
export const listWebhooks: Handler<typeof wire.listWebhooks> = async (app, { principal, query }) => {
  const deliveries = await listDeliveries(app, {
    merchantId: merchantIdOf(principal),
    status: query.status,
    paymentId: query.payment_id,
  })
  return { status: 200, body: { data: deliveries.map(presentDelivery), has_more: false, next_cursor: null } }
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

function presentDelivery({ payment_intent_id, ...delivery }: DeliveryRecord): wire.Delivery {
  return { ...delivery, payment_id: payment_intent_id }
}
