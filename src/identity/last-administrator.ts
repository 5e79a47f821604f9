import { DomainError } from '../lib/errors.ts'
import { IdentityUnavailableError } from './provider.ts'
import type { IdentityProvider } from './provider.ts'

/**
 * Returns the users who can sign in, because they have accepted their invitation. Without an identity provider, and
 * while it does not respond, that is all of them: an outage must not prevent a removal.
 */
export async function findUsersAbleToSignIn(
  identity: Pick<IdentityProvider, 'kind' | 'usersWithPassword'>,
  realm: string,
  userIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (identity.kind === 'none') return new Set(userIds)
  try {
    return await identity.usersWithPassword(realm, userIds)
  } catch (error) {
    if (error instanceof IdentityUnavailableError) return new Set(userIds)
    throw error
  }
}

type RoleRemoval = {
  code: 'LAST_ADMIN' | 'LAST_OWNER'
  group: 'team' | 'staff'
  role: 'ADMIN' | 'OWNER'
  /** The user who loses the role. */
  leaving: string
  /** The other users with the role. */
  others: readonly string[]
  /** The result of `findUsersAbleToSignIn` for all of them. */
  signsIn: ReadonlySet<string>
}

/**
 * Prevents the removal of the last user with a role who can sign in: another holder's invitation may have gone to a
 * mistyped address, and an account may be missing at the identity provider.
 * @throws {DomainError} LAST_ADMIN or LAST_OWNER
 */
export function requireOtherHolder({ code, group, role, leaving, others, signsIn }: RoleRemoval): void {
  if (others.length === 0) {
    throw new DomainError(code, `the ${group} has no other ${role}`, {
      next: `give another member the role ${role} first`,
    })
  }
  if (!signsIn.has(leaving) || others.some((id) => signsIn.has(id))) return
  throw new DomainError(code, `the ${group} has no other ${role} who can sign in`, {
    next: `wait until another ${role} has accepted the invitation and set a password, then repeat this`,
  })
}
