import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { DueInvite } from './record.ts'

/**
 * Claims invitations that are due. Each becomes due again after a wait that doubles from 30 seconds to an hour, unless
 * it is marked as sent before, so that a crashed process loses none.
 */
export function claimInvites(tx: CommonQueryMethods, limit: number): Promise<readonly DueInvite[]> {
  return tx.any(sql.type(DueInvite)`
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
    returning id, slug, merchant_id, admin_user_id, admin_email, invite_attempts
  `)
}

export async function recordInvited(tx: CommonQueryMethods, id: string): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update registration set invited_at = now(), invite_due_at = null, failure = null, updated_at = now() where id = ${id}
  `)
}

/** Records why an invitation was not sent, for operators. */
export async function recordInviteFailure(
  tx: CommonQueryMethods,
  { id, failure }: { id: string; failure: string },
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update registration set failure = ${failure}, updated_at = now() where id = ${id} and invited_at is null
  `)
}

/** Postpones an invitation without counting an attempt. */
export async function postponeInvite(
  tx: CommonQueryMethods,
  { id, seconds }: { id: string; seconds: number },
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update registration
    set invite_attempts = greatest(invite_attempts - 1, 0), invite_due_at = now() + make_interval(secs => ${seconds}),
      updated_at = now()
    where id = ${id} and invited_at is null
  `)
}

/** Replaces the registration's administrator; sends an invitation if `invite` is set. */
export async function replaceAdministrator(
  tx: CommonQueryMethods,
  { id, email, userId, invite }: { id: string; email: string; userId: string; invite: boolean },
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update registration
    set admin_email = ${email}, admin_user_id = ${userId}, warnings = '{}', failure = null, invite_attempts = 0,
      invited_at = case when ${invite} then null else coalesce(invited_at, now()) end,
      invite_due_at = case when ${invite} then now() end, updated_at = now()
    where id = ${id} and status = 'COMPLETE'
  `)
}

/** Removes a warning from a registration; false if it is already gone. */
export async function clearWarning(
  tx: CommonQueryMethods,
  { id, warning }: { id: string; warning: string },
): Promise<boolean> {
  const { rowCount } = await tx.query(sql.type(z.object({}))`
    update registration
    set warnings = array_remove(warnings, ${warning}), updated_at = now()
    where id = ${id} and ${warning} = any (warnings)
  `)
  return rowCount === 1
}
