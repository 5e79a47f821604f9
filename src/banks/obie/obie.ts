import type { CommonQueryMethods } from 'slonik'
import type { Logger } from 'pino'
import type { Sealer } from '../../lib/seal.ts'
import { BankUnavailableError } from '../connector.ts'
import type { BankProfile } from '../profiles.ts'
import { bankReturnAddress } from '../redirects.ts'
import type { SoftwareStatement } from '../software-statement.ts'
import type { CreditorAccount } from './bodies.ts'
import { makeRecordCall } from './calls-sql.ts'
import type { RecordCall } from './calls-sql.ts'
import { makeDiscovery } from './discovery.ts'
import type { Discovery } from './discovery.ts'
import { makeBankHttp } from './http.ts'
import type { BankHttp } from './http.ts'
import { makeResources } from './resources.ts'
import type { Resources } from './resources.ts'
import { makeSigner } from './signing.ts'
import type { Signer } from './signing.ts'
import { makeTokens } from './tokens.ts'
import type { Tokens } from './tokens.ts'

export type ObieOptions = {
  profile: BankProfile
  statement: SoftwareStatement
  creditor: CreditorAccount
  publicUrl: string
  pool: CommonQueryMethods
  sealer: Sealer
  log: Logger
  /** The client id that the bank gave at registration; undefined before. */
  findClientId(): Promise<string | undefined>
}

/** What the parts of one bank's connector share. */
export type Obie = Pick<ObieOptions, 'profile' | 'creditor' | 'publicUrl' | 'pool' | 'sealer' | 'log'> & {
  http: BankHttp
  discovery: Discovery
  signer: Signer
  tokens: Tokens
  resources: Resources
  record: RecordCall
  /** @throws {BankUnavailableError} while we are not registered with the bank */
  clientId(): Promise<string>
}

export async function makeObie(options: ObieOptions): Promise<Obie> {
  const { profile, statement, pool, findClientId } = options
  const record = makeRecordCall(pool)
  const http = makeBankHttp({ profile, statement, record })
  const signer = makeSigner(statement)
  const discovery = makeDiscovery(profile, http)
  const clientId = async (): Promise<string> => {
    const found = profile.client.registration === 'manual' ? profile.client.client_id : await findClientId()
    if (found !== undefined) return found
    throw new BankUnavailableError(`${profile.id}: not registered yet; svc banks connect ${profile.id}`)
  }
  const redirectUri = bankReturnAddress(options.publicUrl)
  const tokens = makeTokens({ profile, signer, http, discovery, clientId, redirectUri })
  const resources = makeResources({ profile, signer, http, discovery, tokens })
  return { ...options, http, discovery, signer, tokens, resources, record, clientId }
}
