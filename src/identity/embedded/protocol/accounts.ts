import type { Account } from 'oidc-provider'
import { ACR } from '../../../lib/sign-in-levels.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { RealmRecord, UserRecord } from '../record.ts'
import { requiresFactor } from '../users/second-factor.ts'
import { factorOf } from '../users/second-factor-sql.ts'
import { isSignInValid } from '../users/sign-in-step.ts'
import { findUserBySubject } from '../users/users-sql.ts'

/** A user's claims, with the names of OpenID and Keycloak. */
export function claimsOf(user: UserRecord): { sub: string; email: string; preferred_username: string; name?: string } {
  const { subject, email, display_name } = user
  return { sub: subject, email, preferred_username: email, ...(display_name === null ? {} : { name: display_name }) }
}

/** A sign-in: of the session, or of the session that the code or token came from. `at` in seconds. */
export type PastSignIn = { at: number | undefined; acr: unknown }

/**
 * The account of a `sub`. A disabled user has none, which invalidates sessions and refresh tokens; the same holds for
 * sign-ins before the user's sessions were last ended, and for those without a second factor where the user's role
 * requires one or the user has one: setting one up ends the sign-ins with a password alone.
 */
export async function findAccount(
  parts: EmbeddedParts,
  realm: RealmRecord,
  { subject, signIn }: { subject: string; signIn: PastSignIn },
): Promise<Account | undefined> {
  const user = await findUserBySubject(parts.pool, realm.slug, subject)
  if (user === null || signIn.at === undefined || !isSignInValid(user, signIn.at)) return undefined
  const isComplete = signIn.acr === ACR.secondFactor
  if (!isComplete && (requiresFactor(parts, user) || (await factorOf(parts.pool, user.id)) !== null)) return undefined
  return { accountId: user.subject, claims: () => claimsOf(user) }
}
