import type { Client } from '../call.ts'
import { CliError } from '../../base/errors.ts'
import { whoIs } from './who-is.ts'
import type { Who } from './who-is.ts'

/** One of the two that the built-in profile can act as. */
export type Half = 'merchant' | 'platform'

/** What the flags say of it. */
export function halfOf({ merchant, platform }: { merchant: boolean; platform: boolean }): Half | undefined {
  if (merchant) return 'merchant'
  return platform ? 'platform' : undefined
}

/** Whether whoever this is can be both: the built-in profile is the merchant and the operator of the running service. */
export function isBoth({ credentials: { chosen } }: Pick<Client, 'credentials'>): boolean {
  return chosen?.by === 'dev'
}

/**
 * Who looks at what there is: whom the user names, else the operator of the built-in profile, who sees more. Where only
 * one of the two can prove itself, it is that one.
 * @throws {CliError} exit code 4 where nobody can
 */
export async function whoLooks(client: Client, half: Half | undefined): Promise<Who> {
  if (half !== undefined) return whoIs(client, [half])
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
 * signed in. The built-in profile, which is both, is the merchant as long as nothing is said.
 * @throws {CliError} exit code 4 where nobody is signed in
 */
export async function meansAllMerchants(client: Client, allMerchants: boolean): Promise<boolean> {
  if (allMerchants) return true
  return !isBoth(client) && (await whoIs(client, ['merchant', 'platform'])).kind === 'platform'
}
