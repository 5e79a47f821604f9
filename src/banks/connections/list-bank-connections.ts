import type { App } from '../../app.ts'
import type * as wire from '../../wire/bank-connections.ts'
import type { BankProfile } from '../profiles.ts'
import { presentStatement, presentTest } from './present.ts'
import type { RegistrationRow, TestRow } from './record.ts'
import { currentStatement } from './software-statement.ts'
import { listRegistrations, listTests } from './sql.ts'

/** The configured banks with what is known of the connection to each, and the software statement without its keys. */
export async function listBankConnections(
  app: Pick<App, 'pool' | 'sealer' | 'bankSetup' | 'catalogue'>,
): Promise<{ data: wire.BankConnection[]; software_statement: wire.SoftwareStatement | null }> {
  const statement = await currentStatement(app)
  const softwareId = statement?.statement.software_id
  const registrations = softwareId === undefined ? [] : await listRegistrations(app.pool, softwareId)
  const tests = await listTests(app.pool)
  const data = app.bankSetup.profiles.map((profile) =>
    presentConnection(profile, {
      registration: registrations.find(({ bank_id }) => bank_id === profile.id),
      test: tests.find(({ bank_id }) => bank_id === profile.id),
      available: app.catalogue.isAvailable(profile.id),
    }),
  )
  return { data, software_statement: statement === undefined ? null : presentStatement(statement) }
}

type Known = { registration: RegistrationRow | undefined; test: TestRow | undefined; available: boolean }

function presentConnection(profile: BankProfile, { registration, test, available }: Known): wire.BankConnection {
  return {
    id: profile.id,
    name: profile.name,
    issuer: profile.issuer,
    payments_version: profile.payments.version,
    vrp_version: profile.vrp?.version ?? null,
    quirks: profile.quirks,
    registration: profile.client.registration,
    client_id: profile.client.client_id ?? registration?.client_id ?? null,
    registered_by: registration?.registered_by ?? null,
    registered_at: registration?.registered_at ?? null,
    is_proven: typeof test?.passed_at === 'string',
    last_test: test === undefined ? null : presentTest(test),
    available,
  }
}
