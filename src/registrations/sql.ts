import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { clientIdsOf } from '../lib/realms.ts'
import { RegistrationRecord } from './record.ts'

const columns = sql.fragment`
  id, slug, status, company_name, trading_name, admin_email, merchant_id, admin_user_id, warnings, failure,
  status = 'PROVISIONING' and locked_until > now() as is_underway, invite_due_at,
  coalesce(invite_due_at < now() - interval '1 minute', false) as invite_overdue, invite_attempts, invited_at, created_at
`

export type Draft = {
  id: string
  slug: string
  companyName: string
  tradingName: string
  adminEmail: string
  leaseSeconds: number
}

/** Whether a merchant has the slug, or a client id derived from it. */
function isTaken(slug: string) {
  const { portal, server, cli } = clientIdsOf(slug)
  return sql.fragment`(
    exists (select from merchants where realm_slug = ${slug} or client_id = ${server})
    or exists (select from merchant_client where client_id in (${portal}, ${server}, ${cli}))
  )`
}

/** Claims a free slug; false if a merchant or another registration has it. */
export async function insertRegistration(tx: CommonQueryMethods, draft: Draft): Promise<boolean> {
  const { rowCount } = await tx.query(sql.type(z.object({}))`
    insert into registration (
      id, slug, status, company_name, trading_name, admin_email, locked_until
    )
    select ${draft.id}, ${draft.slug}, 'PROVISIONING', ${draft.companyName}, ${draft.tradingName}, ${draft.adminEmail},
      now() + make_interval(secs => ${draft.leaseSeconds})
    where not ${isTaken(draft.slug)}
    on conflict (slug) do nothing
  `)
  return rowCount === 1
}

/** Claims the slug of a failed registration; false if another process was faster. */
export async function takeOverRegistration(
  tx: CommonQueryMethods,
  { failedId, draft }: { failedId: string; draft: Draft },
): Promise<boolean> {
  const { rowCount } = await tx.query(sql.type(z.object({}))`
    update registration
    set id = ${draft.id}, status = 'PROVISIONING', company_name = ${draft.companyName},
      trading_name = ${draft.tradingName}, admin_email = ${draft.adminEmail}, warnings = '{}', failure = null,
      locked_until = now() + make_interval(secs => ${draft.leaseSeconds}),
      created_at = now(), updated_at = now()
    where id = ${failedId} and slug = ${draft.slug} and status = 'FAILED' and not ${isTaken(draft.slug)}
  `)
  return rowCount === 1
}

export function findRegistration(tx: CommonQueryMethods, slug: string): Promise<RegistrationRecord | null> {
  return tx.maybeOne(sql.type(RegistrationRecord)`select ${columns} from registration where slug = ${slug}`)
}

export type Completion = {
  id: string
  merchantId: string
  adminUserId: string | null
  warnings: readonly string[]
}

/** Completes a registration unless it is being rolled back. */
export async function completeRegistration(tx: CommonQueryMethods, completion: Completion): Promise<boolean> {
  const { rowCount } = await tx.query(sql.type(z.object({}))`
    update registration
    set status = 'COMPLETE', merchant_id = ${completion.merchantId}, admin_user_id = ${completion.adminUserId},
      warnings = ${sql.array([...completion.warnings], 'text')}, failure = null, locked_until = null,
      invite_due_at = now(), updated_at = now()
    where id = ${completion.id} and status = 'PROVISIONING' and not rolling_back
  `)
  return rowCount === 1
}

/**
 * Reserves an incomplete registration for rollback: from now on it can't be completed. False if it is not incomplete,
 * or with `onlyAbandoned` while a process is still working on it.
 */
export async function lockForRollback(
  tx: CommonQueryMethods,
  { id, leaseSeconds, onlyAbandoned }: { id: string; leaseSeconds: number; onlyAbandoned: boolean },
): Promise<boolean> {
  const { rowCount } = await tx.query(sql.type(z.object({}))`
    update registration
    set rolling_back = true, locked_until = now() + make_interval(secs => ${leaseSeconds}), updated_at = now()
    where id = ${id} and status = 'PROVISIONING' and (not ${onlyAbandoned} or locked_until <= now())
  `)
  return rowCount === 1
}

/** Marks a registration as failed, which frees its slug. */
export async function failRegistration(
  tx: CommonQueryMethods,
  { id, failure }: { id: string; failure: string },
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update registration
    set status = 'FAILED', failure = ${failure}, rolling_back = false, locked_until = null, updated_at = now()
    where id = ${id} and status = 'PROVISIONING'
  `)
}

/** Releases an incomplete registration whose realm could not be deleted, so that the next sweep or retry continues. */
export async function abandonRegistration(
  tx: CommonQueryMethods,
  { id, failure }: { id: string; failure: string },
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update registration
    set failure = ${failure}, locked_until = now(), updated_at = now()
    where id = ${id} and status = 'PROVISIONING'
  `)
}

/** Incomplete registrations whose lease ended at least `afterSeconds` ago. */
export function listAbandonedRegistrations(
  tx: CommonQueryMethods,
  { limit, afterSeconds }: { limit: number; afterSeconds: number },
): Promise<readonly RegistrationRecord[]> {
  return tx.any(sql.type(RegistrationRecord)`
    select ${columns}
    from registration
    where status = 'PROVISIONING' and locked_until <= now() - make_interval(secs => ${afterSeconds})
    order by locked_until
    limit ${limit}
  `)
}

/**
 * Registrations that may need an operator, incomplete ones first and failed ones last; failed ones of the last 30 days.
 */
export function listTroubledRegistrations(
  tx: CommonQueryMethods,
  limit: number,
): Promise<readonly RegistrationRecord[]> {
  return tx.any(sql.type(RegistrationRecord)`
    select ${columns}
    from registration
    where (status = 'PROVISIONING' and locked_until <= now())
      or (status = 'COMPLETE' and warnings <> '{}')
      or (status = 'COMPLETE' and invited_at is null
        and (invite_attempts > 0 or invite_due_at < now() - interval '1 minute'))
      or (status = 'FAILED' and created_at > now() - interval '30 days')
    order by status <> 'PROVISIONING', status = 'FAILED', created_at desc, id
    limit ${limit}
  `)
}
