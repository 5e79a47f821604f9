import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { MERCHANT_ROLES } from '../lib/permissions.ts'

/** The service's record of a merchant's team member. */
export const KnownMember = z.object({ email: z.string(), role: z.enum(MERCHANT_ROLES), is_active: z.boolean() })
export type KnownMember = z.infer<typeof KnownMember>

/** The member with this `sub` in a merchant's realm, active or not. */
export function findMember(
  tx: CommonQueryMethods,
  { merchantId, subject }: { merchantId: string; subject: string },
): Promise<KnownMember | null> {
  return tx.maybeOne(sql.prepared('find_member', KnownMember)`
    select email, role, is_active from team_members where merchant_id = ${merchantId} and id = ${subject}
  `)
}
