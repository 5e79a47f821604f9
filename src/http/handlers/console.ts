import { getAdminPayment, listAdminPayments } from '../../console/admin-payments.ts'
import { getInbox } from '../../console/get-inbox.ts'
import { getOverview } from '../../console/get-overview.ts'
import { roleAllows } from '../../lib/permissions.ts'
import { resolvePayment } from '../../payments/resolve-payment.ts'
import type { Permission, Role } from '../../lib/permissions.ts'
import type * as wire from '../../wire/console.ts'
import type { Handlers } from '../endpoint.ts'
import { callerOf, merchantIdOf, merchantOf, operatorOf } from '../principal.ts'
import { presentAdminPayment, presentAdminSummary } from './present-admin-payment.ts'

export const consoleViews: Handlers<typeof wire> = {
  /** GET /api/v1/events/stream */
  async streamEvents(app, input, sink) {
    const caller = callerOf(input.principal)
    const merchantId = caller.kind === 'merchant' ? caller.merchantId : undefined
    await app.streams.follow({
      merchantId,
      // By the role of now: people may be demoted while they read.
      canSeeDeliveries: () => {
        const now = callerOf(sink.caller())
        return now.kind === 'platform' || roleAllows(now.role, 'manage webhooks')
      },
      caller: `${merchantId ?? caller.kind} ${caller.actor.id}`,
      isApproved: caller.kind === 'platform' || caller.kybStatus === 'APPROVED',
      after: input.headers['last-event-id'] ?? input.query.after,
      headOnly: input.headOnly,
      sink,
    })
  },

  /** GET /api/v1/admin/overview */
  async getOverview(app, { principal }) {
    operatorOf(principal)
    return { status: 200, body: await getOverview(app, { merchantId: undefined }) }
  },

  /** GET /api/v1/portal/overview */
  async getPortalOverview(app, { principal }) {
    return { status: 200, body: await getOverview(app, { merchantId: merchantIdOf(principal) }) }
  },

  /** GET /api/v1/admin/inbox */
  async getInbox(app, { principal, query }) {
    const { role } = operatorOf(principal)
    return { status: 200, body: await getInbox(app, { merchantId: undefined, can: mayOf(role), ...query }) }
  },

  /** GET /api/v1/portal/inbox */
  async getPortalInbox(app, { principal, query }) {
    const { merchantId, role } = merchantOf(principal)
    return { status: 200, body: await getInbox(app, { merchantId, can: mayOf(role), ...query }) }
  },

  /** GET /api/v1/admin/payments */
  async listAdminPayments(app, { principal, query }) {
    const operator = operatorOf(principal)
    const { payments, nextCursor } = await listAdminPayments(app, query)
    const data = payments.map((payment) => presentAdminSummary(payment, operator))
    return { status: 200, body: { data, has_more: nextCursor !== null, next_cursor: nextCursor } }
  },

  /** GET /api/v1/admin/payments/{id} */
  async getAdminPayment(app, { principal, params }) {
    const operator = operatorOf(principal)
    return { status: 200, body: presentAdminPayment(await getAdminPayment(app, params.id), operator) }
  },

  /** POST /api/v1/admin/payments/{id}/resolve */
  async resolvePayment(app, { principal, params, body }) {
    const operator = operatorOf(principal)
    await resolvePayment(app, { ...body, id: params.id, actor: operator.actor, role: operator.role })
    return { status: 200, body: presentAdminPayment(await getAdminPayment(app, params.id), operator) }
  },
}

function mayOf(role: Role): (permission: Permission) => boolean {
  return (permission) => roleAllows(role, permission)
}
