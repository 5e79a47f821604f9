import { advanceSandboxClock } from '../../sandbox/advance-sandbox-clock.ts'
import { createSandboxMerchant } from '../../sandbox/create-sandbox-merchant.ts'
import { readSandboxClock } from '../../sandbox/read-sandbox-clock.ts'
import type * as wire from '../../wire/sandbox.ts'
import type { Handlers } from '../endpoint.ts'
import { operatorOf } from '../principal.ts'

export const sandbox: Handlers<typeof wire> = {
  /** POST /api/v1/sandbox/merchants */
  async createSandboxMerchant(app, { principal, body }) {
    const { actor } = operatorOf(principal)
    return { status: 201, body: await createSandboxMerchant(app, { ...body, actor }) }
  },

  /** POST /api/v1/sandbox/clock/advance */
  async advanceSandboxClock(app, { principal, body }) {
    const { actor } = operatorOf(principal)
    const { merchant_id: merchantId, customer_ids: customerIds, by, to } = body
    const { stops, advancedMs } = await advanceSandboxClock(app, { merchantId, customerIds, by, to, actor })
    return {
      status: 200,
      body: { merchant_id: merchantId ?? null, customer_ids: customerIds ?? [], advanced_ms: advancedMs, stops },
    }
  },

  /** GET /api/v1/sandbox/clock */
  async readSandboxClock(app, { query }) {
    const { merchant_id: merchantId, customer_id: customerId } = query
    const { now, ahead_ms } = await readSandboxClock(app, {
      merchantId,
      customerIds: customerId === undefined ? [] : [customerId],
    })
    return { status: 200, body: { merchant_id: merchantId ?? null, customer_id: customerId ?? null, now, ahead_ms } }
  },
}
