import type { CommonQueryMethods } from 'slonik'
import type { Logger } from 'pino'
import type { Sealer } from '../../lib/seal.ts'
import { BankUnavailableError } from '../connector.ts'
import type { Platform } from '../platform.ts'
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
  platform: Pick<Platform, 'statement' | 'clientId'>
  creditor: CreditorAccount
  publicUrl: string
  pool: CommonQueryMethods
  sealer: Sealer
  log: Logger
}

/** What depends on our keys and on our client id at the bank. */
type Access = {
  http: BankHttp
  discovery: Discovery
  signer: Signer
  tokens: Tokens
  resources: Resources
}

/**
 * What the parts of one bank's connector share. Reading a member of `Access` throws BankUnavailableError before there
 * are keys.
 */
export type Obie = Pick<ObieOptions, 'profile' | 'creditor' | 'publicUrl' | 'pool' | 'sealer' | 'log'> &
  Readonly<Access> & {
    record: RecordCall
    /** @throws {BankUnavailableError} while we are not registered with the bank */
    clientId(): string
    close(): Promise<void>
  }

type Made = { statement: SoftwareStatement; clientId: string | undefined; access: Access }

export function makeObie(options: ObieOptions): Obie {
  const { profile, platform, pool } = options
  const record = makeRecordCall(pool)
  const redirectUri = bankReturnAddress(options.publicUrl)
  let made: Made | undefined

  function clientId(): string {
    const found = platform.clientId(profile)
    if (found !== undefined) return found
    throw new BankUnavailableError(`${profile.id}: not registered yet; svc banks connect ${profile.id}`)
  }

  function make(statement: SoftwareStatement): Access {
    const http = makeBankHttp({ profile, statement, record })
    const signer = makeSigner(statement)
    const discovery = makeDiscovery(profile, http)
    const tokens = makeTokens({ profile, signer, http, discovery, clientId, redirectUri })
    return { http, discovery, signer, tokens, resources: makeResources({ profile, signer, http, discovery, tokens }) }
  }

  /** Made again for another software statement or client: tokens and connections of the one before are not used for it. */
  function access(): Access {
    const statement = platform.statement()
    if (statement === undefined)
      throw new BankUnavailableError(`${profile.id}: no software statement; svc banks software-statement set`)
    const id = platform.clientId(profile)
    if (made?.statement === statement && made.clientId === id) return made.access
    closeLater(made)
    made = { statement, clientId: id, access: make(statement) }
    return made.access
  }

  /** Calls on its connections end first. */
  function closeLater(old: Made | undefined): void {
    old?.access.http
      .close()
      .catch((error: unknown) => options.log.warn({ err: error }, 'connections to a bank stay open'))
  }

  return {
    ...options,
    record,
    clientId,
    get http() {
      return access().http
    },
    get discovery() {
      return access().discovery
    },
    get signer() {
      return access().signer
    },
    get tokens() {
      return access().tokens
    },
    get resources() {
      return access().resources
    },
    close: async () => made?.access.http.close(),
  }
}
