import type * as wire from '../../wire/bank-connections.ts'
import { datesOf, redirectUrisOf } from '../software-statement.ts'
import type { TestRow } from './record.ts'
import type { CurrentStatement } from './software-statement.ts'

export function presentTest({ bank_id, passed, steps, tested_by, tested_at }: TestRow): wire.BankTest {
  return { bank_id, passed, steps, tested_by, tested_at }
}

/** Without keys, certificate and assertion. */
export function presentStatement({ statement, source, setBy, setAt }: CurrentStatement): wire.SoftwareStatement {
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
