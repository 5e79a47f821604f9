import type { Account } from 'oidc-provider'
import type { EmbeddedParts } from '../parts.ts'
import type { RealmRecord, UserRecord } from '../record.ts'
import { findUserBySubject } from '../users/users-sql.ts'

/** A user's claims, with the names of OpenID and Keycloak. */
export function claimsOf(user: UserRecord): { sub: string; email: string; preferred_username: string; name?: string } {
  const { subject, email, display_name } = user
  return { sub: subject, email, preferred_username: email, ...(display_name === null ? {} : { name: display_name }) }
}

/**
 * The account of a `sub`. A disabled user has none, which invalidates sessions and refresh tokens; the same holds for
 * sign-ins before the user's sessions were last ended.
 * @param signedInAt of the session, or of the session that the code or token came from; in seconds
 */
export async function findAccount(
  { pool }: EmbeddedParts,
  realm: RealmRecord,
  { subject, signedInAt }: { subject: string; signedInAt: number | undefined },
): Promise<Account | undefined> {
  const user = await findUserBySubject(pool, realm.slug, subject)
  if (user === null || !user.is_enabled) return undefined
  if (signedInAt === undefined || signedInAt * 1_000 < Date.parse(user.sessions_valid_from)) return undefined
  return { accountId: user.subject, claims: () => claimsOf(user) }
}
