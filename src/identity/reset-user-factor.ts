import type { App } from '../app.ts'
import { endTokens } from './token-cutoffs-sql.ts'

/**
 * Removes a person's second factor. Its access tokens end with its sessions: Keycloak ends only those, and a token that was
 * stolen with the factor would go on for a quarter of an hour.
 * @throws {IdentityUnavailableError}
 */
export async function resetUserFactor(
  { identity, pool }: Pick<App, 'identity' | 'pool'>,
  realm: string,
  userId: string,
): Promise<void> {
  // First, so that a stolen token ends though the provider fails halfway.
  await endTokens(pool, realm, { subject: userId })
  await identity.resetFactor(realm, userId)
  // Again, for tokens of the moment between.
  await endTokens(pool, realm, { subject: userId })
}
