import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { DomainError } from '../lib/errors.ts'
import { PLATFORM_REALM } from '../lib/realms.ts'
import { addStaff } from './add-staff.ts'
import { resetStaffFactor } from './staff.ts'
import type { StaffApp } from './staff-change.ts'
import { listOwners } from './users-sql.ts'

export type InitialisedPlatform = {
  realm: string
  email: string
  role: 'OWNER'
  /** The single-use link to set the OWNER's password; null without an identity provider. */
  link: string | null
  /** ISO 8601. */
  link_expires_at: string
}

/** The operator who has the database address and the master key. */
const INSTALLER: Actor = { id: 'svc staff bootstrap', name: 'svc staff bootstrap', role: 'INSTALLER' }

/**
 * Creates the platform's realms and invites its first OWNER by a link for the terminal: no default password exists
 * (decision 62). Until the invitation is accepted, repeating it returns a new link.
 * @param input `email` in lower case
 * @throws {DomainError} USER_EXISTS if the platform already has an OWNER
 * @throws {IdentityUnavailableError}
 */
export async function initPlatform(
  app: StaffApp,
  { email, displayName }: { email: string; displayName?: string | undefined },
): Promise<InitialisedPlatform> {
  const role = 'OWNER'
  const invitation = { email, displayName, role, actor: INSTALLER, deliver: 'link', isFirstOwner: true } as const
  const { link } = await addStaff(app, invitation).catch(async (error: unknown) => {
    throw await explainError(app, email, error)
  })
  const link_expires_at = new Date(Date.now() + app.config.inviteSeconds * 1000).toISOString()
  return { realm: PLATFORM_REALM, email, role, link, link_expires_at }
}

/**
 * Resets the second factor of an OWNER whom no other can help. The operator of the database proves more than a factor
 * does.
 * @throws {DomainError} STAFF_NOT_FOUND
 * @throws {IdentityUnavailableError}
 */
export async function resetOwnerFactor(app: StaffApp, email: string): Promise<void> {
  const owner = (await listOwners(app.pool)).find((each) => each.email === email)
  if (owner === undefined) throw new DomainError('STAFF_NOT_FOUND', `${email} is not an OWNER`)
  await resetStaffFactor(app, { id: owner.id, actor: INSTALLER })
}

/** The error for `svc staff bootstrap`: its user has no token, so the API's advice does not apply. */
async function explainError(
  app: Pick<App, 'pool' | 'publicUrl' | 'identity'>,
  email: string,
  error: unknown,
): Promise<unknown> {
  if (!(error instanceof DomainError) || error.code !== 'USER_EXISTS') return error
  const owner = (await listOwners(app.pool)).find((each) => each.email === email)
  if (owner === undefined || !(await app.identity.hasPassword(PLATFORM_REALM, owner.keycloak_user_id))) return error
  return new DomainError('USER_EXISTS', `${email} is already an OWNER`, {
    next: `svc login --platform --api-url ${app.publicUrl}; reset a forgotten password on the sign-in page`,
    cause: error,
  })
}

/** The current OWNERs' e-mail addresses. */
export async function currentOwners({ pool }: Pick<App, 'pool'>): Promise<string[]> {
  return (await listOwners(pool)).map(({ email }) => email)
}
