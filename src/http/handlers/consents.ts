import type { App } from '../../app.ts'
import { getConsent } from '../../consents/get-consent.ts'
import { listConsents } from '../../consents/list-consents.ts'
import { endConsent } from '../../consents/end-consent.ts'
import type * as wire from '../../wire/consents.ts'
import type { Handlers } from '../endpoint.ts'
import { merchantIdOf } from '../principal.ts'
import { presentMandate } from './present-mandate.ts'

export const consents: Handlers<typeof wire> = {
  /** GET /api/v1/portal/consents */
  async listConsents(app, { principal, query }) {
    const { status, limit, cursor } = query
    const { mandates, nextCursor } = await listConsents(app, {
      merchantId: merchantIdOf(principal),
      status,
      limit,
      cursor,
    })
    return {
      status: 200,
      body: {
        data: mandates.map((mandate) => presentMandate(mandate, capsOf(app))),
        has_more: nextCursor !== null,
        next_cursor: nextCursor,
      },
    }
  },

  /** GET /api/v1/portal/consents/{id} */
  async getConsent(app, { principal, params }) {
    const mandate = await getConsent(app, { merchantId: merchantIdOf(principal), id: params.id })
    return { status: 200, body: presentMandate(mandate, capsOf(app)) }
  },

  /** DELETE /api/v1/portal/consents/{id} */
  async endConsent(app, { principal, params }) {
    await endConsent(app, { merchantId: merchantIdOf(principal), consentId: params.id, by: 'MERCHANT' })
    return { status: 200, body: { consent_id: params.id, status: 'REVOKED' } }
  },
}

function capsOf({ config }: App): { areCapsEnforced: boolean } {
  return { areCapsEnforced: config.vrpCaps === 'enforce' }
}
