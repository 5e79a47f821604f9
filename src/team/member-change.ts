import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { syncRoles } from '../identity/ensure-user.ts'
import { requireOtherHolder, findUsersAbleToSignIn } from '../identity/last-administrator.ts'
import { findMember, listAdmins } from './members-sql.ts'
import type { MemberKey } from './members-sql.ts'
import type { TeamMemberRecord } from './record.ts'

export type TeamApp = Pick<App, 'pool' | 'ids' | 'identity' | 'config' | 'sealer' | 'lookupHash'>

/**
 * The ADMINs who can sign in, read before a transaction that may remove one; empty if the member is no active ADMIN.
 * @throws the provider's errors, except that it does not respond
 */
export async function adminsAbleToSignIn(
  app: TeamApp,
  realm: string,
  { merchantId, member }: { merchantId: string; member: TeamMemberRecord | null },
): Promise<ReadonlySet<string>> {
  if (member?.role !== 'ADMIN' || !member.is_active) return new Set()
  const admins = await listAdmins(app.pool, merchantId)
  return findUsersAbleToSignIn(
    app.identity,
    realm,
    admins.map(({ id }) => id),
  )
}

/**
 * Prevents the removal of the last ADMIN, inside the transaction that locks the team.
 * @throws {DomainError} LAST_ADMIN
 */
export async function requireAnotherAdmin(
  tx: CommonQueryMethods,
  { merchantId, member, signsIn }: { merchantId: string; member: TeamMemberRecord; signsIn: ReadonlySet<string> },
): Promise<void> {
  if (member.role !== 'ADMIN') return
  const admins = await listAdmins(tx, merchantId)
  const others = admins.map(({ id }) => id).filter((id) => id !== member.id)
  requireOtherHolder({ code: 'LAST_ADMIN', group: 'team', role: 'ADMIN', leaving: member.id, others, signsIn })
}

/** Updates the provider's role to the one in our row. */
export function syncMemberRole(
  app: Pick<App, 'pool' | 'identity'>,
  realm: string,
  { merchantId, id }: MemberKey,
): Promise<void> {
  return syncRoles(app.identity, {
    realm,
    userId: id,
    currentRole: async () => {
      const member = await findMember(app.pool, { merchantId, id })
      return member?.is_active === true ? member.role : null
    },
  })
}

type ActionInput = MemberKey & {
  actor: Actor
  action: string
  before?: Record<string, unknown>
  after?: Record<string, unknown>
}

export function recordMemberAction(
  app: Pick<App, 'ids'>,
  tx: CommonQueryMethods,
  { id, ...action }: ActionInput,
): Promise<void> {
  return recordAction(app, tx, { ...action, subjectId: id })
}
