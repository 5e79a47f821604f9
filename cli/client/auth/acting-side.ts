import { PLATFORM_REALM } from '../../../src/lib/realms.ts'
import { listAccounts } from '../../../src/wire/accounts.ts'
import type { Access } from '../../../src/wire/operation.ts'
import { listRecurring } from '../../../src/wire/recurring.ts'
import { whoami } from '../../../src/wire/service.ts'
import type { Whoami } from '../../../src/wire/service.ts'
import { CliError } from '../../base/errors.ts'
import { call } from '../call.ts'
import type { Client } from '../call.ts'
import { claimsOf, realmOfIssuer } from './token-source.ts'

export type Side = 'merchant' | 'platform'

export function sideOf({ merchant, platform }: { merchant: boolean; platform: boolean }): Side | undefined {
  if (merchant) return 'merchant'
  return platform ? 'platform' : undefined
}

/** Whether commands can act as both: the built-in profile is the merchant and the operator of the running service. */
export function isBoth({ credentials: { chosen } }: Pick<Client, 'credentials'>): boolean {
  return chosen?.by === 'dev'
}

/**
 * The viewer: the side that the user names, else the operator of the built-in profile, who sees more. Where only one of
 * the two is signed in, it is that one.
 * @throws {CliError} exit code 4 where neither is
 */
export async function viewerOf(client: Client, side: Side | undefined): Promise<Who> {
  if (side !== undefined) return whoIs(client, [side])
  if (!isBoth(client)) return whoIs(client, ['merchant', 'platform'])
  try {
    return await whoIs(client, ['platform'])
  } catch (error) {
    if (!(error instanceof CliError) || error.code !== 'NOT_SIGNED_IN') throw error
    return whoIs(client, ['merchant'])
  }
}

/**
 * Whether a command means what belongs to all merchants: where `--all-merchants` says so, or where only an operator is
 * signed in. The built-in profile, which is both, is the merchant as long as nothing is said. The service is asked only
 * where the credentials do not say whose they are.
 * @throws {CliError} exit code 4 without a sign-in
 */
export async function meansAllMerchants(client: Client, allMerchants: boolean): Promise<boolean> {
  if (allMerchants) return true
  if (isBoth(client)) return false
  const { merchant, platform, chosen } = client.credentials
  if (merchant === undefined && platform !== undefined) return true
  if (merchant?.realm !== undefined) return merchant.realm === PLATFORM_REALM
  // A name is a merchant's; a token that can't be read may be anybody's.
  if (merchant !== undefined && chosen?.by !== 'SVC_TOKEN') return false
  return (await whoIs(client, ['merchant', 'platform'])).kind === 'platform'
}

export type Who = Omit<Whoami, 'kind'> & { kind: Whoami['kind'] | 'customer' }

/** Asks the service for the identity of these kinds of access. @throws {CliError} exit code 4 where there is none */
export async function whoIs(client: Client, access: Access[]): Promise<Who> {
  if (access.includes('customer')) return whichCustomer(client)
  return (await call(client, { ...whoami, access }, {})).body
}

/**
 * A customer's token counts on the Open Banking API alone (decision 58), which has no operation that returns the caller. So an
 * operation of it proves that the token is taken, and the rest is what the token says of itself.
 */
async function whichCustomer(client: Client): Promise<Who> {
  const token = await client.credentials.token(listAccounts, client)
  const scopes = token === undefined ? ['accounts', 'payments'] : (claimsOf(token.accessToken)?.scope ?? '').split(' ')
  await call(client, scopes.includes('accounts') ? listAccounts : listRecurring, { query: { pageSize: 25 } })
  const granted = scopes.filter((scope) => scope === 'accounts' || scope === 'payments')
  const customer = { kind: 'customer' as const, role: 'CUSTOMER', permissions: granted, merchant: null }
  if (token === undefined) {
    const subject = (await client.credentials.headersFor(listAccounts, client))['x-customer-id'] ?? ''
    return { ...customer, realm: null, client_id: null, subject, name: subject, expires_at: null }
  }
  const claims = claimsOf(token.accessToken)
  if (claims === undefined)
    throw new CliError('NOT_A_JWT', 'the access token is taken, but only who made it can read whose it is')
  const subject = claims.sub ?? ''
  return {
    ...customer,
    realm: realmOfIssuer(claims.iss)?.realm ?? null,
    client_id: claims.azp ?? null,
    subject,
    name: claims.email ?? (isProgram(claims.azp) ? claims.azp : undefined) ?? subject,
    expires_at: token.expiresAt === null ? null : new Date(token.expiresAt).toISOString(),
  }
}

/** Whether a client acts for its customer without a person who has signed in. */
function isProgram(clientId: string | undefined): boolean {
  return clientId !== undefined && /-key-[a-z0-9]{8}$/.test(clientId)
}
