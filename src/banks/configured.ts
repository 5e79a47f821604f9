import type { CommonQueryMethods } from 'slonik'
import type { Logger } from 'pino'
import type { Sealer } from '../lib/seal.ts'
import type { ConfiguredBank } from './catalogue.ts'
import { makeObieConnector } from './obie/connector.ts'
import { readBankProfiles } from './profiles.ts'
import { readSoftwareStatement } from './software-statement.ts'

/** As the configuration has them (SVC_BANK_PROFILES, SVC_BANK_SOFTWARE_STATEMENT, SVC_COLLECTION_ACCOUNT). */
type Settings = {
  bankProfiles: string | undefined
  bankSoftwareStatement: string | undefined
  collectionAccount: { scheme: string; identification: string; name: string } | undefined
}

type Parts = { pool: CommonQueryMethods; sealer: Sealer; log: Logger; publicUrl: string }

/**
 * The banks that SVC_BANK_PROFILES names. None is asked here: a bank that is down keeps the service from nothing else.
 * @throws {BankProfilesError} {SoftwareStatementError}
 */
export async function openConfiguredBanks(settings: Settings, parts: Parts): Promise<ConfiguredBank[]> {
  const { bankProfiles, bankSoftwareStatement, collectionAccount: account } = settings
  if (bankProfiles === undefined || bankSoftwareStatement === undefined || account === undefined) return []
  const statement = await readSoftwareStatement(bankSoftwareStatement)
  const creditor = { SchemeName: account.scheme, Identification: account.identification, Name: account.name }
  const profiles = await readBankProfiles(bankProfiles)
  return Promise.all(
    profiles.map(async (profile) => ({
      name: profile.name,
      connector: await makeObieConnector({
        ...parts,
        profile,
        statement,
        creditor,
        findClientId: async () => undefined,
      }),
    })),
  )
}
