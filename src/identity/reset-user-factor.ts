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
  await identity.resetFactor(realm, userId)
  await endTokens(pool, realm, { subject: userId })
}
