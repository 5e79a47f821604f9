import type { App } from '../app.ts'
import { findTokenCutoff } from './token-cutoffs-sql.ts'
import type { VerifiedToken } from './verifier.ts'

/**
 * The time, in milliseconds since 1970, up to which access tokens of this person and client are rejected: a password was
 * set, a sign-in ended, a code or refresh token was used twice, the client has a new secret, or the key is revoked. Null if
 * none are.
 */
export function identifyTokenCutoff(
  app: Pick<App, 'pool'>,
  token: Pick<VerifiedToken, 'slug' | 'keyId' | 'clientId' | 'subject'>,
): Promise<number | null> {
  return findTokenCutoff(app.pool, token)
}
