import type { BankProfile } from './profiles.ts'
import { readSoftwareStatement } from './software-statement.ts'
import type { SoftwareStatement } from './software-statement.ts'

/** What the files say of banks. */
export type BankSetup = {
  profiles: readonly BankProfile[]
  /** Undefined where SVC_BANK_SOFTWARE_STATEMENT names none: it may be in the database. */
  fileStatement: SoftwareStatement | undefined
}

/**
 * Reads the files of SVC_BANK_PROFILES and SVC_BANK_SOFTWARE_STATEMENT.
 * @throws {BankProfilesError}
 * @throws {SoftwareStatementError}
 */
export async function readBankSetup({
  bankProfiles,
  bankSoftwareStatement,
}: {
  bankProfiles: string | undefined
  bankSoftwareStatement: string | undefined
}): Promise<BankSetup> {
  return {
    profiles: bankProfiles === undefined ? [] : await profilesOf(bankProfiles),
    fileStatement: bankSoftwareStatement === undefined ? undefined : await readSoftwareStatement(bankSoftwareStatement),
  }
}

/** Without such a file, the service starts without a reader of YAML. */
async function profilesOf(file: string): Promise<readonly BankProfile[]> {
  const { readBankProfiles } = await import('./profiles.ts')
  return readBankProfiles(file)
}
