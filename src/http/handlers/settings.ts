import { getBranding as readBranding, setBranding } from '../../merchants/branding.ts'
import { getOrigins as readOrigins, setOrigins } from '../../merchants/checkout-origins.ts'
import type * as wire from '../../wire/settings.ts'
import type { Handler } from '../endpoint.ts'
import { merchantIdOf, merchantOf } from '../principal.ts'

/** GET /api/v1/portal/branding */
export const getBranding: Handler<typeof wire.getBranding> = async (app, { principal }) => {
  return { status: 200, body: await readBranding(app, merchantIdOf(principal)) }
}

/** PUT /api/v1/portal/branding */
export const putBranding: Handler<typeof wire.putBranding> = async (app, { principal, body }) => {
  const { merchantId, actor } = merchantOf(principal)
  return { status: 200, body: await setBranding(app, { merchantId, actor, look: body }) }
}

/** GET /api/v1/portal/checkout-origins */
export const getOrigins: Handler<typeof wire.getCheckoutOrigins> = async (app, { principal }) => {
  return { status: 200, body: { origins: await readOrigins(app, merchantOf(principal).merchantId) } }
}

/** PUT /api/v1/portal/checkout-origins */
export const putOrigins: Handler<typeof wire.putCheckoutOrigins> = async (app, { principal, body }) => {
  const { merchantId, actor } = merchantOf(principal)
  return { status: 200, body: { origins: await setOrigins(app, { merchantId, actor, origins: body.origins }) } }
}
