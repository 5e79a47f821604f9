import type { BankConnection } from '../../banks/connections/list-connections.ts'
import { listConnections } from '../../banks/connections/list-connections.ts'
import type { TestRow } from '../../banks/connections/record.ts'
import { registerAtBank } from '../../banks/connections/register-at-bank.ts'
import { setSoftwareStatement } from '../../banks/connections/software-statement.ts'
import type { CurrentStatement } from '../../banks/connections/software-statement.ts'
import { testBank } from '../../banks/connections/test-bank.ts'
import { datesOf, redirectUrisOf } from '../../banks/software-statement.ts'
import type * as wire from '../../wire/bank-connections.ts'
import type { Handlers } from '../endpoint.ts'
import { operatorOf } from '../principal.ts'

export const bankConnections: Handlers<typeof wire> = {
  /** GET /api/v1/admin/banks */
  async listBankConnections(app) {
    const { connections, statement } = await listConnections(app)
    return {
      status: 200,
      body: {
        data: connections.map(presentConnection),
        software_statement: statement === undefined ? null : presentStatement(statement),
      },
    }
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

function presentConnection({
  profile,
  clientId,
  registration,
  test,
  isAvailable,
}: BankConnection): wire.BankConnection {
  return {
    id: profile.id,
    name: profile.name,
    issuer: profile.issuer,
    payments_version: profile.payments.version,
    vrp_version: profile.vrp?.version ?? null,
    quirks: profile.quirks,
    registration: profile.client.registration,
    client_id: clientId,
    registered_by: registration?.registered_by ?? null,
    registered_at: registration?.registered_at ?? null,
    is_proven: test !== null && test.passed_at !== null,
    last_test: test === null ? null : presentTest(test),
    available: isAvailable,
  }
}

function presentTest({ bank_id, passed, steps, tested_by, tested_at }: TestRow): wire.BankTest {
  return { bank_id, passed, steps, tested_by, tested_at }
}

function presentStatement({ statement, source, setBy, setAt }: CurrentStatement): wire.SoftwareStatement {
  const { certificateEndsAt, ssaEndsAt } = datesOf(statement)
  return {
    org_id: statement.org_id,
    software_id: statement.software_id,
    signing_kid: statement.signing.kid,
    redirect_uris: [...redirectUrisOf(statement)],
    source,
    certificate_ends_at: certificateEndsAt.toISOString(),
    ssa_ends_at: ssaEndsAt?.toISOString() ?? null,
    set_by: setBy,
    set_at: setAt,
  }
}
