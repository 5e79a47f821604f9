import { listScenarios } from '../../banks/scenarios.ts'
import { advancePayment as advance } from '../../sandbox/advance-payment.ts'
import { readBankFaults, setBankFaults } from '../../sandbox/set-bank-faults.ts'
import type * as wire from '../../wire/sandbox-dial.ts'
import type { Handler } from '../endpoint.ts'
import { operatorOf } from '../principal.ts'

/** GET /api/v1/sandbox/bank/faults */
export const getFaults: Handler<typeof wire.getBankFaults> = async (app, { query }) => {
  return { status: 200, body: await readBankFaults(app, query.merchant_id) }
}

/** PUT /api/v1/sandbox/bank/faults */
export const setFaults: Handler<typeof wire.setBankFaults> = async (app, { principal, body }) => {
  const { actor } = operatorOf(principal)
  return { status: 200, body: await setBankFaults(app, { ...body, actor }) }
}

/** GET /api/v1/sandbox/bank/scenarios */
export const scenarios: Handler<typeof wire.listBankScenarios> = async () => {
  return { status: 200, body: { data: listScenarios(), has_more: false, next_cursor: null } }
}

/** POST /api/v1/sandbox/payments/{id}/advance */
export const advancePayment: Handler<typeof wire.advanceSandboxPayment> = async (app, { principal, params, body }) => {
  const { actor } = operatorOf(principal)
  const { oldStatus, newStatus, decision } = await advance(app, { id: params.id, ...body, actor })
  const reached = newStatus === body.to
  return {
    status: 200,
    body: { payment_id: params.id.toLowerCase(), old_status: oldStatus, new_status: newStatus, reached, decision },
  }
}
