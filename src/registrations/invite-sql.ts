import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { DueInvite } from './record.ts'

/**
 * Takes invitations that are due. Each is due again after a wait that doubles from 30 seconds to an hour, unless it is
 * marked as sent before: so a process that dies loses none.
 */
export function claimInvites(db: CommonQueryMethods, limit: number): Promise<readonly DueInvite[]> {
  return db.any(sql.type(DueInvite)`
    update registration
    set invite_attempts = least(invite_attempts + 1, 100), updated_at = now(),
      invite_due_at = now() + least(interval '30 seconds' * 2 ^ least(invite_attempts, 10), interval '1 hour')
    where id in (
      select id
      from registration
      where status = 'COMPLETE' and invited_at is null and invite_due_at <= now() and admin_user_id is not null
      order by invite_due_at
      limit ${limit}
      for update skip locked
    )
    returning id, slug, merchant_id, admin_user_id, invite_attempts
  `)
}

export async function recordInvited(db: CommonQueryMethods, id: string): Promise<void> {
  await db.query(sql.type(z.object({}))`
    update registration set invited_at = now(), invite_due_at = null, failure = null, updated_at = now() where id = ${id}
  `)
}

/** Why an invitation did not go out, for operators. */
export async function recordInviteFailure(
  db: CommonQueryMethods,
  { id, failure }: { id: string; failure: string },
): Promise<void> {
  await db.query(sql.type(z.object({}))`
    update registration set failure = ${failure}, updated_at = now() where id = ${id} and invited_at is null
  `)
}

/** Takes a warning off a registration; false where it is gone already. */
export async function clearWarning(
  db: CommonQueryMethods,
  { id, warning }: { id: string; warning: string },
): Promise<boolean> {
  const { rowCount } = await db.query(sql.type(z.object({}))`
    update registration
    set warnings = array_remove(warnings, ${warning}), updated_at = now()
    where id = ${id} and ${warning} = any (warnings)
  `)
  return rowCount === 1
}
