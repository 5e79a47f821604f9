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
      const findClientId = async () => profile.client.client_id ?? (await findRegistration(pool, key))?.client_id
      const isRegistered = await watchRegistration(findClientId, parts.log)
      const bank = await makeObieConnector({ ...parts, profile, statement, creditor, findClientId })
      const { connector, circuit } = withCircuit(bank, parts)
      return { name: profile.name, connector, isAvailable: () => isRegistered() && circuit.isAvailable() }
    }),
  )
}

const LOOK_AGAIN_MS = 2_000

/** Whether we have a client id at a bank: payers are not offered it before. Another process may register meanwhile. */
async function watchRegistration(findClientId: () => Promise<string | undefined>, log: Logger): Promise<() => boolean> {
  let isRegistered = (await findClientId()) !== undefined
  let lookedAt = Date.now()
  const look = async (): Promise<void> => {
    lookedAt = Date.now()
    isRegistered = (await findClientId()) !== undefined
  }
  return () => {
    if (!isRegistered && Date.now() - lookedAt > LOOK_AGAIN_MS)
      look().catch((error: unknown) => log.warn({ err: error }, 'the registration at a bank could not be read'))
    return isRegistered
  }
}
