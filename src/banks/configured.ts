import type { CommonQueryMethods } from 'slonik'
import type { Sealer } from '../lib/seal.ts'
import type { Logger } from '../observe/log.ts'
import type { App } from '../app.ts'
import type { ConfiguredBank } from './catalogue.ts'
import { withCircuit } from './circuit.ts'
import { makeObieConnector } from './obie/connector.ts'
import { watchOutages } from './outages/outages.ts'
import { watchPlatform } from './platform.ts'
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
 * The banks that SVC_BANK_PROFILES names. Without a software statement none of them can be paid with; one that is set while
 * the process runs is used within seconds. None is asked here: a bank that is down keeps the service from nothing else.
 */
export async function openConfiguredBanks({ account, bankSetup, ...parts }: Parts): Promise<ConfiguredBank[]> {
  if (account === undefined || bankSetup.profiles.length === 0) return []
  const [platform, outages] = await Promise.all([watchPlatform({ ...parts, bankSetup }), watchOutages(parts)])
  const creditor = { SchemeName: account.scheme, Identification: account.identification, Name: account.name }
  return bankSetup.profiles.map((profile) => {
    const watched = makeObieConnector({ ...parts, profile, platform, creditor })
    const { connector, circuit } = withCircuit(watched, { ...parts, outages })
    const close = async (): Promise<void> => {
      platform.stop()
      outages.stop()
      await connector.close?.()
    }
    return {
      name: profile.name,
      sortCodes: profile.sort_codes,
      logo: profile.logo,
      connector: { ...connector, close },
      refresh: platform.refresh,
      isConfigured: () => platform.statement() !== undefined,
      isRegistered: () => platform.clientId(profile) !== undefined,
      isAvailable: () => platform.clientId(profile) !== undefined && circuit.isAvailable(),
      unavailableSince: () => {
        const since = circuit.unavailableSince()
        return since === undefined ? undefined : Date.now() - (performance.now() - since)
      },
    }
  })
}
