import type { App } from '../../app.ts'
import { readRecentDeliveries } from '../../console/read-recent-deliveries.ts'
import { getFees as readFees, setFees as setMerchantFees } from '../../merchants/fees.ts'
import { getMerchant as readMerchant } from '../../merchants/get-merchant.ts'
import { holdPayouts } from '../../merchants/hold-payouts.ts'
import { listMerchants as findMerchants } from '../../merchants/list-merchants.ts'
import type { MerchantRecord } from '../../merchants/record.ts'
import { setActive as setMerchantActive } from '../../merchants/set-active.ts'
import { setKyb as setKybStatus } from '../../merchants/set-kyb.ts'
import type * as wire from '../../wire/admin.ts'
import type * as wireFees from '../../wire/fees.ts'
import type { Handler } from '../endpoint.ts'
import { operatorOf } from '../principal.ts'
import { viewOf } from '../view-of.ts'
import { presentAction } from './audit.ts'

/** GET /api/v1/admin/merchants */
export const listMerchants: Handler<typeof wire.listMerchants> = async (app, { principal, query }) => {
  const view = viewOf(operatorOf(principal))
  const { merchants, nextCursor } = await findMerchants(app, query)
  const data = query.include === undefined ? merchants : await withRecent(app, merchants)
  return {
    status: 200,
    body: { data: data.map((each) => view(each)), has_more: nextCursor !== null, next_cursor: nextCursor },
  }
}

async function withRecent(app: App, merchants: readonly MerchantRecord[]) {
  const recent = await readRecentDeliveries(
    app,
    merchants.map(({ id }) => id),
  )
  return merchants.map((each) => ({ ...each, recent_deliveries: recent.get(each.id) ?? { delivered: 0, dead: 0 } }))
}

/** GET /api/v1/admin/merchants/{id} */
export const getMerchant: Handler<typeof wire.getMerchant> = async (app, { principal, params }) => {
  const view = viewOf(operatorOf(principal))
  const { merchant, actions } = await readMerchant(app, params.id)
  return { status: 200, body: view({ ...merchant, actions: actions.map(presentAction) }) }
}

/** PUT /api/v1/admin/merchants/{id}/kyb */
export const setKyb: Handler<typeof wire.setKybStatus> = async (app, { principal, params, body }) => {
  const { actor } = operatorOf(principal)
  const action = { id: params.id, reason: body.reason, expected: body.expected, actor }
  return { status: 200, body: await setKybStatus(app, { ...action, kybStatus: body.kyb_status }) }
}

/** PUT /api/v1/admin/merchants/{id}/hold */
export const setHold: Handler<typeof wire.setPayoutHold> = async (app, { principal, params, body }) => {
  const { actor } = operatorOf(principal)
  const action = { id: params.id, reason: body.reason, expected: body.expected, actor }
  return { status: 200, body: await holdPayouts(app, { ...action, payoutHeld: body.payout_held }) }
}

/** PUT /api/v1/admin/merchants/{id}/active */
export const setActive: Handler<typeof wire.setMerchantActive> = async (app, { principal, params, body }) => {
  const { actor } = operatorOf(principal)
  const action = { id: params.id, reason: body.reason, expected: body.expected, actor }
  return { status: 200, body: await setMerchantActive(app, { ...action, isActive: body.is_active }) }
}

/** GET /api/v1/admin/merchants/{id}/fees */
export const getFees: Handler<typeof wireFees.getFees> = async (app, { params }) => {
  return { status: 200, body: await readFees(app, params.id) }
}

/** PUT /api/v1/admin/merchants/{id}/fees */
export const setFees: Handler<typeof wireFees.setFees> = async (app, { principal, params, body }) => {
  const { actor } = operatorOf(principal)
  const { fee_percentage: percentage, fee_flat: flat, reason, expected } = body
  const action = { id: params.id, reason, expected, actor }
  return { status: 200, body: await setMerchantFees(app, { ...action, percentage, flat }) }
}
