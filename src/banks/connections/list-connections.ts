import type { App } from '../../app.ts'
import { DomainError } from '../../lib/errors.ts'
import type { BankProfile } from '../profiles.ts'
import type { RegistrationRow, TestRow } from './record.ts'
import { currentStatement } from './software-statement.ts'
import type { CurrentStatement } from './software-statement.ts'
import { listRegistrations, listTests } from './sql.ts'

/** A configured bank with what is known of the connection to it. */
export type BankConnection = {
  profile: BankProfile
  /** Null where the service is not registered there. */
  clientId: string | null
  registration: RegistrationRow | null
  test: TestRow | null
  /** False while its answers fail, so that payers are not offered it. */
  isAvailable: boolean
}

export async function listConnections(
  app: Pick<App, 'pool' | 'sealer' | 'bankSetup' | 'catalogue'>,
): Promise<{ connections: readonly BankConnection[]; statement: CurrentStatement | undefined }> {
  const statement = await currentStatement(app)
  const softwareId = statement?.statement.software_id
  const registrations = softwareId === undefined ? [] : await listRegistrations(app.pool, softwareId)
  const tests = await listTests(app.pool)
  const connections = app.bankSetup.profiles.map((profile) => {
    const registration = registrations.find(({ bank_id }) => bank_id === profile.id) ?? null
    const test = tests.find(({ bank_id }) => bank_id === profile.id) ?? null
    return {
      profile,
      registration,
      test,
      clientId: profile.client.client_id ?? registration?.client_id ?? null,
      isAvailable: app.catalogue.isAvailable(profile.id),
    }
  })
  return { connections, statement }
}

/** @throws {DomainError} BANK_NOT_FOUND */
export function needProfile({ bankSetup }: Pick<App, 'bankSetup'>, id: string): BankProfile {
  const profile = bankSetup.profiles.find((each) => each.id === id)
  if (profile !== undefined) return profile
  throw new DomainError('BANK_NOT_FOUND', 'the bank is not among the configured ones', {
    next: 'add it to the file of SVC_BANK_PROFILES; svc banks list shows what is there',
  })
}
