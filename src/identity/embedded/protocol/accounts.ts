import type { Account } from 'oidc-provider'
import type { EmbeddedParts } from '../parts.ts'
import type { RealmRecord, UserRecord } from '../record.ts'
import { findUserBySubject } from '../users/users-sql.ts'

/** What tokens tell of a person, in OpenID's and Keycloak's words. */
export function claimsOf(user: UserRecord): { sub: string; email: string; preferred_username: string; name?: string } {
  const { subject, email, display_name } = user
  return { sub: subject, email, preferred_username: email, ...(display_name === null ? {} : { name: display_name }) }
}

/**
 * The account behind a `sub`. Who is disabled has none: neither a session nor a refresh token is worth anything then; nor
 * is any that came of a sign-in before the user's sessions were last ended.
 * @param signedInAt of the session that asks, or of the one that the code or token came of; in seconds
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
