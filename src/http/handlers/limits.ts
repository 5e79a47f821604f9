import { getLimits, setLimits } from '../../merchants/limits.ts'
import type * as wire from '../../wire/limits.ts'
import type { Handlers } from '../endpoint.ts'
import { operatorOf } from '../principal.ts'

export const limits: Handlers<typeof wire> = {
  /** GET /api/v1/admin/merchants/{id}/limits */
  async getLimits(app, { params }) {
    return { status: 200, body: await getLimits(app, params.id) }
  },

  /** PUT /api/v1/admin/merchants/{id}/limits */
  async setLimits(app, { principal, params, body }) {
    const { actor } = operatorOf(principal)
    const { currencies, payment_amount_max: max, reason, expected } = body
    const action = { id: params.id, reason, expected, actor }
    return { status: 200, body: await setLimits(app, { ...action, currencies, max }) }
  },
}
