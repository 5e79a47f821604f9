import { getFees, setFees } from '../../merchants/fees.ts'
import type * as wire from '../../wire/fees.ts'
import type { Handlers } from '../endpoint.ts'
import { operatorOf } from '../principal.ts'

export const fees: Handlers<typeof wire> = {
  /** GET /api/v1/admin/merchants/{id}/fees */
  async getFees(app, { params }) {
    return { status: 200, body: await getFees(app, params.id) }
  },

  /** PUT /api/v1/admin/merchants/{id}/fees */
  async setFees(app, { principal, params, body }) {
    const { actor } = operatorOf(principal)
    const { fee_percentage: percentage, fee_flat: flat, reason, expected } = body
    const action = { id: params.id, reason, expected, actor }
    return { status: 200, body: await setFees(app, { ...action, percentage, flat }) }
  },
}
