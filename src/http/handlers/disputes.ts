import { acceptDispute } from '../../disputes/accept-dispute.ts'
import { escalateDispute } from '../../disputes/escalate-dispute.ts'
import { raiseDispute } from '../../disputes/raise-dispute.ts'
import { getDispute } from '../../disputes/get-dispute.ts'
import { listDisputes } from '../../disputes/list-disputes.ts'
import { resolveDispute } from '../../disputes/resolve-dispute.ts'
import { submitEvidence } from '../../disputes/submit-evidence.ts'
import type * as wire from '../../wire/disputes.ts'
import type { Handlers } from '../endpoint.ts'
import { merchantIdOf, merchantOf, operatorOf } from '../principal.ts'
import { viewOf } from '../view-of.ts'
import {
  presentAdminDispute,
  presentAdminSummary,
  presentAdminWithEvents,
  presentDispute,
  presentSummary,
  presentWithEvents,
} from './present-dispute.ts'

export const disputes: Handlers<typeof wire> = {
  /** POST /api/v1/payments/{id}/dispute */
  async raiseDispute(app, { principal, params, body }) {
    const { merchantId, actor } = merchantOf(principal)
    const dispute = await raiseDispute(app, {
      merchantId,
      paymentId: params.id,
      openedBy: 'MERCHANT',
      reason: body.reason,
      statement: body.statement,
      actor,
    })
    return {
      status: 201,
      body: presentDispute(dispute),
      headers: { location: `/api/v1/portal/disputes/${dispute.id}` },
    }
  },

  /** GET /api/v1/portal/disputes */
  async listDisputes(app, { principal, query }) {
    const { disputes, nextCursor } = await listDisputes(app, { merchantId: merchantIdOf(principal), query })
    return {
      status: 200,
      body: { data: disputes.map(presentSummary), has_more: nextCursor !== null, next_cursor: nextCursor },
    }
  },

  /** GET /api/v1/portal/disputes/{id} */
  async getDispute(app, { principal, params }) {
    const dispute = await getDispute(app, { merchantId: merchantIdOf(principal), id: params.id })
    return { status: 200, body: presentWithEvents(dispute) }
  },

  /** PUT /api/v1/portal/disputes/{id} */
  async submitEvidence(app, { principal, params, body }) {
    const { merchantId, actor } = merchantOf(principal)
    const { id } = await submitEvidence(app, { merchantId, id: params.id, evidence: body.merchant_evidence, actor })
    return { status: 200, body: presentWithEvents(await getDispute(app, { merchantId, id })) }
  },

  /** POST /api/v1/portal/disputes/{id}/accept */
  async acceptDispute(app, { principal, params, body }) {
    const { merchantId, actor } = merchantOf(principal)
    const { id } = await acceptDispute(app, {
      merchantId,
      id: params.id,
      note: body?.note,
      refund: body?.refund ?? false,
      expected: body?.expected,
      actor,
    })
    return { status: 200, body: presentWithEvents(await getDispute(app, { merchantId, id })) }
  },

  /** GET /api/v1/admin/disputes */
  async listAdminDisputes(app, { principal, query }) {
    const view = viewOf(operatorOf(principal))
    const { disputes, nextCursor } = await listDisputes(app, { merchantId: query.merchant_id, query })
    const data = disputes.map((dispute) => view(presentAdminSummary(dispute)))
    return { status: 200, body: { data, has_more: nextCursor !== null, next_cursor: nextCursor } }
  },

  /** GET /api/v1/admin/disputes/{id} */
  async getAdminDispute(app, { principal, params }) {
    const view = viewOf(operatorOf(principal))
    const dispute = await getDispute(app, { merchantId: undefined, id: params.id })
    return { status: 200, body: view(presentAdminWithEvents(dispute)) }
  },

  /** POST /api/v1/admin/payments/{id}/dispute */
  async raiseAdminDispute(app, { principal, params, body }) {
    const { actor } = operatorOf(principal)
    const dispute = await raiseDispute(app, {
      merchantId: undefined,
      paymentId: params.id,
      openedBy: 'PLATFORM',
      reason: body.reason,
      statement: body.statement,
      actor,
      operator: actor,
    })
    return {
      status: 201,
      body: presentAdminDispute(dispute),
      headers: { location: `/api/v1/admin/disputes/${dispute.id}` },
    }
  },

  /** PUT /api/v1/admin/disputes/{id}/escalate */
  async escalateDispute(app, { principal, params, body }) {
    const { actor } = operatorOf(principal)
    const { reason, assignee, expected } = body
    const { id } = await escalateDispute(app, { id: params.id, reason, assignee, expected, actor })
    return { status: 200, body: presentAdminWithEvents(await getDispute(app, { merchantId: undefined, id })) }
  },

  /** PUT /api/v1/admin/disputes/{id}/resolve */
  async resolveDispute(app, { principal, params, body }) {
    const { actor, role } = operatorOf(principal)
    const { id } = await resolveDispute(app, {
      id: params.id,
      status: body.status,
      note: body.resolution_note,
      refund: body.refund,
      expected: body.expected,
      actor,
      role,
    })
    return { status: 200, body: presentAdminWithEvents(await getDispute(app, { merchantId: undefined, id })) }
  },

  /** POST /api/v1/sandbox/payments/{id}/dispute */
  async disputeAsPayer(app, { principal, params, body }) {
    const { actor } = operatorOf(principal)
    const dispute = await raiseDispute(app, {
      merchantId: undefined,
      paymentId: params.id,
      openedBy: 'PAYER',
      reason: body.reason,
      statement: body.payer_statement,
      actor: null,
      operator: actor,
    })
    return { status: 201, body: presentDispute(dispute) }
  },
}
