import { listBankConnections } from '../../banks/connections/list-bank-connections.ts'
import { presentStatement, presentTest } from '../../banks/connections/present.ts'
import { registerAtBank } from '../../banks/connections/register-at-bank.ts'
import { setSoftwareStatement } from '../../banks/connections/software-statement.ts'
import { testBank } from '../../banks/connections/test-bank.ts'
import type * as wire from '../../wire/bank-connections.ts'
import type { Handlers } from '../endpoint.ts'
import { operatorOf } from '../principal.ts'

export const bankConnections: Handlers<typeof wire> = {
  /** GET /api/v1/admin/banks */
  async listBankConnections(app) {
    return { status: 200, body: await listBankConnections(app) }
  },

  /** PUT /api/v1/admin/banks/software-statement */
  async setSoftwareStatement(app, { principal, body: { reason, ...statement } }) {
    const { actor } = operatorOf(principal)
    return { status: 200, body: presentStatement(await setSoftwareStatement(app, { statement, reason, actor })) }
  },

  /** POST /api/v1/admin/banks/{id}/registration */
  async registerAtBank(app, { principal, params, body }) {
    const { registration, claims } = await registerAtBank(app, {
      ...body,
      bankId: params.id,
      actor: operatorOf(principal).actor,
    })
    return {
      status: 201,
      body: {
        bank_id: params.id,
        client_id: registration.client_id,
        registered_at: registration.registered_at,
        sent: claims,
      },
    }
  },

  /** POST /api/v1/admin/banks/{id}/test */
  async testBank(app, { principal, params }) {
    const test = await testBank(app, { bankId: params.id, actor: operatorOf(principal).actor })
    return { status: 200, body: presentTest(test) }
  },
}
