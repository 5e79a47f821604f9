import { DomainError } from '../lib/errors.ts'
import { IdentityUnavailableError } from './provider.ts'
import type { IdentityProvider } from './provider.ts'

/**
 * Those of these users who can sign in, for they have taken their invitation. Without an identity provider that is
 * everyone, and so it is while the provider is away: whoever has to go must not be kept in by that.
 */
export async function findUsersAbleToSignIn(
  identity: Pick<IdentityProvider, 'kind' | 'hasPassword'>,
  realm: string,
  userIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (identity.kind === 'none') return new Set(userIds)
  try {
    const answers = await Promise.all(userIds.map((id) => identity.hasPassword(realm, id)))
    return new Set(userIds.filter((_id, index) => answers[index] === true))
  } catch (error) {
    if (error instanceof IdentityUnavailableError) return new Set(userIds)
    throw error
  }
}

type RoleRemoval = {
  code: 'LAST_ADMIN' | 'LAST_OWNER'
  group: 'team' | 'staff'
  role: 'ADMIN' | 'OWNER'
  /** The user who is to have the role no longer. */
  leaving: string
  /** The users who have it beside. */
  others: readonly string[]
  /** As `findUsersAbleToSignIn` says of all of them. */
  signsIn: ReadonlySet<string>
}

/**
 * Lets nobody leave a role that then no one would have who can sign in: an invitation may have gone to a mistyped
 * address, and an account may be gone at the identity provider.
 * @throws {DomainError} LAST_ADMIN or LAST_OWNER
 */
export function requireOtherHolder({ code, group, role, leaving, others, signsIn }: RoleRemoval): void {
  if (others.length === 0) {
    throw new DomainError(code, `the ${group} has no other ${role}`, { next: `make another member an ${role} first` })
  }
  if (!signsIn.has(leaving) || others.some((id) => signsIn.has(id))) return
  throw new DomainError(code, `the ${group} has no other ${role} who can sign in`, {
    next: `wait until another ${role} has taken the invitation and set a password, then repeat this`,
  })
}
