import { getReconciliation } from '../../reconciliation/get-reconciliation.ts'
import { listReconciliations } from '../../reconciliation/list-reconciliations.ts'
import type * as wire from '../../wire/reconciliation.ts'
import type { Handlers } from '../endpoint.ts'
import { merchantIdOf } from '../principal.ts'

export const reconciliation: Handlers<typeof wire> = {
  /** GET /api/v1/admin/reconciliation */
  async getReconciliation(app, { query: { merchant_id: merchantId, ...time } }) {
    return { status: 200, body: await getReconciliation(app, { merchantId, ...time }) }
  },

  /** GET /api/v1/admin/reconciliations */
  async listReconciliations(app, { query }) {
    const { rows, nextCursor } = await listReconciliations(app, query)
    return { status: 200, body: { data: [...rows], has_more: nextCursor !== null, next_cursor: nextCursor } }
  },

  /** GET /api/v1/portal/reconciliation */
  async getPortalReconciliation(app, { principal, query }) {
    return { status: 200, body: await getReconciliation(app, { merchantId: merchantIdOf(principal), ...query }) }
  },
}
