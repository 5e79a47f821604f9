import type { CommonQueryMethods } from 'slonik'
import type { Sealer } from '../lib/seal.ts'
import type { Logger } from '../observe/log.ts'
import type { App } from '../app.ts'
import type { ConfiguredBank } from './catalogue.ts'
import { withCircuit } from './circuit.ts'
import { currentStatement } from './connections/software-statement.ts'
import { findRegistration } from './connections/sql.ts'
import { makeObieConnector } from './obie/connector.ts'
import type { BankSetup } from './setup.ts'

type Parts = {
  /** The account that payments are credited to (SVC_COLLECTION_ACCOUNT). */
  account: { scheme: string; identification: string; name: string } | undefined
  bankSetup: BankSetup
  pool: CommonQueryMethods
  sealer: Sealer
  log: Logger
  metrics: App['metrics']
  publicUrl: string
}

/**
 * The banks that SVC_BANK_PROFILES names, with the software statement of now: one that is set later is used after a
 * restart. None is asked here: a bank that is down keeps the service from nothing else.
 */
export async function openConfiguredBanks({ account, bankSetup, ...parts }: Parts): Promise<ConfiguredBank[]> {
  if (account === undefined || bankSetup.profiles.length === 0) return []
  const { pool, sealer } = parts
  const current = await currentStatement({ pool, sealer, bankSetup })
  if (current === undefined) return []
  const { statement } = current
  const creditor = { SchemeName: account.scheme, Identification: account.identification, Name: account.name }
  return Promise.all(
    bankSetup.profiles.map(async (profile) => {
      const key = { bankId: profile.id, softwareId: statement.software_id }
      const findClientId = async () => (await findRegistration(pool, key))?.client_id
      const bank = await makeObieConnector({ ...parts, profile, statement, creditor, findClientId })
      const { connector, circuit } = withCircuit(bank, parts)
      return { name: profile.name, connector, isAvailable: circuit.isAvailable }
    }),
  )
}
