import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { syncRoles } from '../identity/ensure-user.ts'
import { requireOtherHolder, findUsersAbleToSignIn } from '../identity/last-administrator.ts'
import { findMember, listAdmins } from './members-sql.ts'
import type { MemberKey } from './members-sql.ts'
import type { TeamMemberRecord } from './record.ts'

export type TeamApp = Pick<App, 'pool' | 'ids' | 'identity' | 'config'>

/**
 * Which ADMINs can sign in, asked before a transaction that may take one away; nobody where this member is none.
 * @throws whatever the provider throws, but not that it is away
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
 * Lets the last ADMIN stay one, in the transaction that holds the team.
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

/** Lets the provider hear what our row says. */
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
