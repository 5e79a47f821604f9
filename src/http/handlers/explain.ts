import { explain } from '../../explain/explain.ts'
import { roleAllows } from '../../lib/permissions.ts'
import type * as wire from '../../wire/explain.ts'
import type { Handlers } from '../endpoint.ts'
import { merchantOf, operatorOf } from '../principal.ts'
import { viewOf } from '../view-of.ts'

export const explanations: Handlers<typeof wire> = {
  /** GET /api/v1/portal/explain/{id} */
  async explainForMerchant(app, { principal, params }) {
    const { merchantId, role } = merchantOf(principal)
    const viewer = { side: 'merchant', merchantId, can: may(role) } as const
    return { status: 200, body: await explain(app, { id: params.id, viewer }) }
  },

  /** GET /api/v1/admin/explain/{id} */
  async explainForOperator(app, { principal, params }) {
    const operator = operatorOf(principal)
    const view = viewOf(operator)
    const viewer = { side: 'operator', merchantId: undefined, can: may(operator.role) } as const
    return { status: 200, body: view(await explain(app, { id: params.id, viewer })) }
  },
}

function may(role: Parameters<typeof roleAllows>[0]): (permission: Parameters<typeof roleAllows>[1]) => boolean {
  return (permission) => roleAllows(role, permission)
}
