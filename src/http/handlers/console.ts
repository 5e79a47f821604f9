import { findOfAnyone, listOfAll } from '../../console/list-payments.ts'
import { readInbox } from '../../console/inbox.ts'
import { readOverview } from '../../console/overview.ts'
import { roleAllows } from '../../lib/permissions.ts'
import type { Permission, Role } from '../../lib/permissions.ts'
import type * as wire from '../../wire/console.ts'
import type { Handler, StreamHandler } from '../endpoint.ts'
import { callerOf, merchantIdOf, merchantOf, operatorOf } from '../principal.ts'
import { presentAdminPayment, presentAdminSummary } from './present-admin-payment.ts'

/** GET /api/v1/events/stream */
export const stream: StreamHandler<typeof wire.streamEvents> = async (app, input, sink) => {
  const caller = callerOf(input.principal)
  const merchantId = caller.kind === 'merchant' ? caller.merchantId : undefined
  await app.streams.follow({
    merchantId,
    seesDeliveries:
      caller.kind === 'platform' || (caller.kind === 'merchant' && roleAllows(caller.role, 'manage webhooks')),
    caller: `${merchantId ?? caller.kind} ${caller.actor.id}`,
    after: input.headers['last-event-id'] ?? input.query.after,
    headOnly: input.headOnly,
    sink,
  })
}

/** GET /api/v1/admin/overview */
export const overview: Handler<typeof wire.getOverview> = async (app, { principal }) => {
  operatorOf(principal)
  return { status: 200, body: await readOverview(app, { merchantId: undefined }) }
}

/** GET /api/v1/portal/overview */
export const portalOverview: Handler<typeof wire.getPortalOverview> = async (app, { principal }) => {
  return { status: 200, body: await readOverview(app, { merchantId: merchantIdOf(principal) }) }
}

/** GET /api/v1/admin/inbox */
export const inbox: Handler<typeof wire.getInbox> = async (app, { principal, query }) => {
  const { role } = operatorOf(principal)
  return { status: 200, body: await readInbox(app, { merchantId: undefined, can: mayOf(role), ...query }) }
}

/** GET /api/v1/portal/inbox */
export const portalInbox: Handler<typeof wire.getPortalInbox> = async (app, { principal, query }) => {
  const { merchantId, role } = merchantOf(principal)
  return { status: 200, body: await readInbox(app, { merchantId, can: mayOf(role), ...query }) }
}

function mayOf(role: Role): (permission: Permission) => boolean {
  return (permission) => roleAllows(role, permission)
}

/** GET /api/v1/admin/payments */
export const listPayments: Handler<typeof wire.listAdminPayments> = async (app, { principal, query }) => {
  const operator = operatorOf(principal)
  const { payments, nextCursor } = await listOfAll(app, query)
  const data = payments.map((payment) => presentAdminSummary(payment, operator))
  return { status: 200, body: { data, has_more: nextCursor !== null, next_cursor: nextCursor } }
}

/** GET /api/v1/admin/payments/{id} */
export const getPayment: Handler<typeof wire.getAdminPayment> = async (app, { principal, params }) => {
  const operator = operatorOf(principal)
  return { status: 200, body: presentAdminPayment(await findOfAnyone(app, params.id), operator) }
}
