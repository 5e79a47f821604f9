import { getCheckout } from '../../checkout/get-checkout.ts'
import type * as wire from '../../wire/checkout.ts'
import type { Handlers } from '../endpoint.ts'
import { checkoutOf } from '../principal.ts'

export const checkout: Handlers<typeof wire> = {
  /** GET /api/v1/checkout */
  async getCheckout(app, { principal }) {
    return { status: 200, body: await getCheckout(app, checkoutOf(principal)) }
  },
}
