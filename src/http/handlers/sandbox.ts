import { advanceClock as advance } from '../../sandbox/advance-clock.ts'
import { createSandboxMerchant } from '../../sandbox/create-merchant.ts'
import type * as wire from '../../wire/sandbox.ts'
import type { Handler } from '../endpoint.ts'

/** POST /api/v1/sandbox/merchants */
export const createMerchant: Handler<typeof wire.createSandboxMerchant> = async (app, { principal, body }) => {
  if (principal.kind !== 'platform') throw new Error('only operators make merchants')
  return { status: 201, body: await createSandboxMerchant(app, { ...body, operator: principal.name }) }
}

/** POST /api/v1/sandbox/clock/advance */
export const advanceClock: Handler<typeof wire.advanceSandboxClock> = async (app, { body }) => {
  const { stops, advancedMs } = await advance(app, { merchantId: body.merchant_id, by: body.by })
  return { status: 200, body: { merchant_id: body.merchant_id, advanced_ms: advancedMs, stops } }
}
