import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { settleRoles } from '../identity/admit-user.ts'
import { refuseLast, whoSignsIn } from '../identity/who-signs-in.ts'
import { findMember, listAdmins } from './members-sql.ts'
import type { MemberKey } from './members-sql.ts'
import type { TeamMemberRecord } from './record.ts'

export type TeamApp = Pick<App, 'pool' | 'ids' | 'identity' | 'config'>

/**
 * Which ADMINs can sign in, asked before a transaction that may take one away; nobody where this member is none.
 * @throws whatever the provider throws, but not that it is away
 */
export async function askAdmins(
  app: TeamApp,
  realm: string,
  { merchantId, member }: { merchantId: string; member: TeamMemberRecord | null },
): Promise<ReadonlySet<string>> {
  if (member?.role !== 'ADMIN' || !member.is_active) return new Set()
  const admins = await listAdmins(app.pool, merchantId)
  return whoSignsIn(
    app.identity,
    realm,
    admins.map(({ id }) => id),
  )
}

/**
 * Lets the last ADMIN stay one, in the transaction that holds the team.
 * @throws {DomainError} LAST_ADMIN
 */
export async function keepAnAdmin(
  tx: CommonQueryMethods,
  { merchantId, member, signsIn }: { merchantId: string; member: TeamMemberRecord; signsIn: ReadonlySet<string> },
): Promise<void> {
  if (member.role !== 'ADMIN') return
  const admins = await listAdmins(tx, merchantId)
  const others = admins.map(({ id }) => id).filter((id) => id !== member.id)
  refuseLast({ code: 'LAST_ADMIN', group: 'team', role: 'ADMIN', leaving: member.id, others, signsIn })
}

/** Lets the provider hear what our row says. */
export function settleMember(
  app: Pick<App, 'pool' | 'identity'>,
  realm: string,
  { merchantId, id }: MemberKey,
): Promise<void> {
  return settleRoles(app.identity, {
    realm,
    userId: id,
    currentRole: async () => {
      const member = await findMember(app.pool, { merchantId, id })
      return member?.is_active === true ? member.role : null
    },
  })
}

type Recorded = MemberKey & {
  actor: Actor
  action: string
  before?: Record<string, unknown>
  after?: Record<string, unknown>
}

export function recordMember(
  app: Pick<App, 'ids'>,
  tx: CommonQueryMethods,
  { id, ...action }: Recorded,
): Promise<void> {
  return recordAction(app, tx, { ...action, subjectId: id })
}
