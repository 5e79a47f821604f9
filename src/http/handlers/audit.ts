import { exportAudit } from '../../audit/export-audit.ts'
import { getAuditEntry } from '../../audit/get-audit-entry.ts'
import { listAudit } from '../../audit/list-audit.ts'
import type { OperatorActionRecord } from '../../audit/record.ts'
import type * as wire from '../../wire/audit.ts'
import type { Handlers } from '../endpoint.ts'

export const audit: Handlers<typeof wire> = {
  /** GET /api/v1/admin/audit */
  async listAudit(app, { query }) {
    const { actions, nextCursor } = await listAudit(app, query)
    return {
      status: 200,
      body: { data: actions.map(presentAction), has_more: nextCursor !== null, next_cursor: nextCursor },
    }
  },

  /** GET /api/v1/admin/audit/{ordinal} */
  async getAuditEntry(app, { params }) {
    return {
      status: 200,
      body: presentAction(await getAuditEntry(app, params.ordinal)),
    }
  },

  /** GET /api/v1/admin/audit/export */
  async exportAudit(app, { query }) {
    const { rows, nextCursor } = await exportAudit(app, query)
    return {
      status: 200,
      body: { chain: query.chain, data: rows, has_more: nextCursor !== null, next_cursor: nextCursor },
    }
  },
}

/** An operator action as the API returns it, also within a merchant. */
export function presentAction(action: OperatorActionRecord): wire.OperatorAction {
  const { ordinal, actor_name: actor, ...rest } = action
  return { ordinal: ordinal.toString(), actor, ...rest }
}
