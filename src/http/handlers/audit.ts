import { exportChain as exportRows } from '../../audit/export.ts'
import { getAction } from '../../audit/get-action.ts'
import { listActions } from '../../audit/list-actions.ts'
import type { OperatorActionRecord } from '../../audit/record.ts'
import type * as wire from '../../wire/audit.ts'
import type { Handler } from '../endpoint.ts'

/** GET /api/v1/admin/audit */
export const list: Handler<typeof wire.listAudit> = async (app, { query }) => {
  const { actions, nextCursor } = await listActions(app, query)
  return {
    status: 200,
    body: { data: actions.map(presentAction), has_more: nextCursor !== null, next_cursor: nextCursor },
  }
}

/** GET /api/v1/admin/audit/{ordinal} */
export const getEntry: Handler<typeof wire.getAuditEntry> = async (app, { params }) => ({
  status: 200,
  body: presentAction(await getAction(app, params.ordinal)),
})

/** GET /api/v1/admin/audit/export */
export const exportChain: Handler<typeof wire.exportAudit> = async (app, { query }) => {
  const { rows, nextCursor } = await exportRows(app, query)
  return {
    status: 200,
    body: { chain: query.chain, data: rows, has_more: nextCursor !== null, next_cursor: nextCursor },
  }
}

/** An action as it is shown; a merchant's page shows them too. */
export function presentAction(action: OperatorActionRecord): wire.OperatorAction {
  const { ordinal, actor_name: actor, ...rest } = action
  return { ordinal: ordinal.toString(), actor, ...rest }
}
