import type { App } from '../../app.ts'
import { countRecentDeliveries } from '../../console/count-recent-deliveries.ts'
import { getMerchant } from '../../merchants/get-merchant.ts'
import { setPayoutHold } from '../../merchant-status/set-payout-hold.ts'
import { listMerchants } from '../../merchants/list-merchants.ts'
import type { MerchantRecord } from '../../merchants/record.ts'
import { setMerchantActive } from '../../merchant-status/set-merchant-active.ts'
import { setKybStatus } from '../../merchant-status/set-kyb-status.ts'
import type * as wire from '../../wire/admin.ts'
import type { Handlers } from '../endpoint.ts'
import { operatorOf } from '../principal.ts'
import { viewOf } from '../view-of.ts'
import { presentAction } from './audit.ts'

export const admin: Handlers<typeof wire> = {
  /** GET /api/v1/admin/merchants */
  async listMerchants(app, { principal, query }) {
    const view = viewOf(operatorOf(principal))
    const { merchants, nextCursor } = await listMerchants(app, query)
    const data = query.include === undefined ? merchants : await withRecent(app, merchants)
    return {
      status: 200,
      body: { data: data.map((each) => view(each)), has_more: nextCursor !== null, next_cursor: nextCursor },
    }
  },

  /** GET /api/v1/admin/merchants/{id} */
  async getMerchant(app, { principal, params }) {
    const view = viewOf(operatorOf(principal))
    const { merchant, actions } = await getMerchant(app, params.id)
    return { status: 200, body: view({ ...merchant, actions: actions.map(presentAction) }) }
  },

  /** PUT /api/v1/admin/merchants/{id}/kyb */
  async setKybStatus(app, { principal, params, body }) {
    const { actor } = operatorOf(principal)
    const action = { id: params.id, reason: body.reason, expected: body.expected, actor }
    return { status: 200, body: await setKybStatus(app, { ...action, kybStatus: body.kyb_status }) }
  },

  /** PUT /api/v1/admin/merchants/{id}/hold */
  async setPayoutHold(app, { principal, params, body }) {
    const { actor } = operatorOf(principal)
    const action = { id: params.id, reason: body.reason, expected: body.expected, actor }
    return { status: 200, body: await setPayoutHold(app, { ...action, payoutHeld: body.payout_held }) }
  },

  /** PUT /api/v1/admin/merchants/{id}/active */
  async setMerchantActive(app, { principal, params, body }) {
    const { actor } = operatorOf(principal)
    const action = { id: params.id, reason: body.reason, expected: body.expected, actor }
    return { status: 200, body: await setMerchantActive(app, { ...action, isActive: body.is_active }) }
  },
}

async function withRecent(app: App, merchants: readonly MerchantRecord[]) {
  const recent = await countRecentDeliveries(
    app,
    merchants.map(({ id }) => id),
  )
  return merchants.map((each) => ({ ...each, recent_deliveries: recent.get(each.id) ?? { delivered: 0, dead: 0 } }))
}
