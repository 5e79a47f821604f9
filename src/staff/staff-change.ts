import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { syncRoles } from '../identity/ensure-user.ts'
import { requireOtherHolder, findUsersAbleToSignIn } from '../identity/last-administrator.ts'
import { PLATFORM_REALM } from '../lib/realms.ts'
import type { PlatformUser } from './record.ts'
import { findStaffMember, listOwners } from './users-sql.ts'

export type StaffApp = Pick<App, 'pool' | 'ids' | 'identity' | 'config' | 'publicUrl' | 'sealer' | 'lookupHash'>

export type StaffChange = { id: string; reason?: string | undefined; actor: Actor }

/**
 * The OWNERs who can sign in, read before a transaction that may remove one; empty if the member is no active OWNER.
 */
export async function ownersAbleToSignIn(app: StaffApp, member: PlatformUser | null): Promise<ReadonlySet<string>> {
  if (member?.role !== 'OWNER' || !member.is_active) return new Set()
  const owners = await listOwners(app.pool)
  return findUsersAbleToSignIn(
    app.identity,
    PLATFORM_REALM,
    owners.map((owner) => owner.keycloak_user_id),
  )
}

/**
 * Prevents the removal of the last OWNER, inside the transaction that locks the staff.
 * @throws {DomainError} LAST_OWNER
 */
export async function requireAnotherOwner(
  tx: CommonQueryMethods,
  member: PlatformUser,
  signsIn: ReadonlySet<string>,
): Promise<void> {
  if (member.role !== 'OWNER') return
  const leaving = member.keycloak_user_id
  const owners = await listOwners(tx)
  const others = owners.map((owner) => owner.keycloak_user_id).filter((id) => id !== leaving)
  requireOtherHolder({ code: 'LAST_OWNER', group: 'staff', role: 'OWNER', leaving, others, signsIn })
}

/** Updates the provider's role to the one in our row. */
export function syncStaffRole(
  app: Pick<App, 'pool' | 'identity'>,
  { id, keycloak_user_id: userId }: PlatformUser,
): Promise<void> {
  return syncRoles(app.identity, {
    realm: PLATFORM_REALM,
    userId,
    currentRole: async () => {
      const member = await findStaffMember(app.pool, id)
      return member?.is_active === true ? member.role : null
    },
  })
}

type ActionInput = StaffChange & { action: string; before?: Record<string, unknown>; after?: Record<string, unknown> }

export function recordStaffAction(app: Pick<App, 'ids'>, tx: CommonQueryMethods, input: ActionInput): Promise<void> {
  const { actor, action, id, reason, before, after } = input
  return recordAction(app, tx, { actor, action, merchantId: null, subjectId: id, reason, before, after })
}
