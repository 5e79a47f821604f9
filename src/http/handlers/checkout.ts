import { getCheckout } from '../../checkout/get-checkout.ts'
import type * as wire from '../../wire/checkout.ts'
import type { Handler } from '../endpoint.ts'
import { checkoutOf } from '../principal.ts'

/** GET /api/v1/checkout */
export const get: Handler<typeof wire.getCheckout> = async (app, { principal }) => {
  return { status: 200, body: await getCheckout(app, checkoutOf(principal)) }
}
