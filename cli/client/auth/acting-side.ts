import { PLATFORM_REALM } from '../../../src/lib/realms.ts'
import type { Client } from '../call.ts'
import { CliError } from '../../base/errors.ts'
import { whoIs } from './who-is.ts'
import type { Who } from './who-is.ts'

/** What the built-in profile can act as. */
export type Side = 'merchant' | 'platform'

/** The side that the flags name. */
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
 * @throws {CliError} exit code 4 where nobody is signed in
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
