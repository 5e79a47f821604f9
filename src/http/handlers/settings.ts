import { getBranding, putBranding } from '../../merchants/branding.ts'
import { getCheckoutOrigins, putCheckoutOrigins } from '../../merchants/checkout-origins.ts'
import type * as wire from '../../wire/settings.ts'
import type { Handlers } from '../endpoint.ts'
import { merchantIdOf, merchantOf } from '../principal.ts'

export const settings: Handlers<typeof wire> = {
  /** GET /api/v1/portal/branding */
  async getBranding(app, { principal }) {
    return { status: 200, body: await getBranding(app, merchantIdOf(principal)) }
  },

  /** PUT /api/v1/portal/branding */
  async putBranding(app, { principal, body }) {
    const { merchantId, actor } = merchantOf(principal)
    return { status: 200, body: await putBranding(app, { merchantId, actor, branding: body }) }
  },

  /** GET /api/v1/portal/checkout-origins */
  async getCheckoutOrigins(app, { principal }) {
    return { status: 200, body: { origins: await getCheckoutOrigins(app, merchantOf(principal).merchantId) } }
  },

  /** PUT /api/v1/portal/checkout-origins */
  async putCheckoutOrigins(app, { principal, body }) {
    const { merchantId, actor } = merchantOf(principal)
    return {
      status: 200,
      body: { origins: await putCheckoutOrigins(app, { merchantId, actor, origins: body.origins }) },
    }
  },
}
