import { listBankScenarios } from '../../banks/scenarios.ts'
import { advanceSandboxPayment } from '../../sandbox/advance-sandbox-payment.ts'
import { getBankFaults, setBankFaults } from '../../sandbox/set-bank-faults.ts'
import type * as wire from '../../wire/sandbox-faults.ts'
import type { Handlers } from '../endpoint.ts'
import { operatorOf } from '../principal.ts'

export const sandboxFaults: Handlers<typeof wire> = {
  /** GET /api/v1/sandbox/bank/faults */
  async getBankFaults(app, { query }) {
    return { status: 200, body: await getBankFaults(app, query.merchant_id) }
  },

  /** PUT /api/v1/sandbox/bank/faults */
  async setBankFaults(app, { principal, body }) {
    const { actor } = operatorOf(principal)
    return { status: 200, body: await setBankFaults(app, { ...body, actor }) }
  },

  /** GET /api/v1/sandbox/bank/scenarios */
  async listBankScenarios() {
    return { status: 200, body: { data: listBankScenarios(), has_more: false, next_cursor: null } }
  },

  /** POST /api/v1/sandbox/payments/{id}/advance */
  async advanceSandboxPayment(app, { principal, params, body }) {
    const { actor } = operatorOf(principal)
    const { oldStatus, newStatus, decision } = await advanceSandboxPayment(app, { id: params.id, ...body, actor })
    const reached = newStatus === body.to
    return {
      status: 200,
      body: { payment_id: params.id.toLowerCase(), old_status: oldStatus, new_status: newStatus, reached, decision },
    }
  },
}
