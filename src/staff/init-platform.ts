import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { PLATFORM_REALM } from '../lib/realms.ts'
import { addStaff } from './staff.ts'

export type InitialisedPlatform = {
  realm: string
  email: string
  role: 'OWNER'
  /** Where its owner sets a password, once; null without an identity provider. */
  link: string | null
  /** ISO 8601. */
  link_expires_at: string
}

/** Whoever has the database's address and the master key. */
const INSTALLER: Actor = { id: 'svc init', name: 'svc init', role: 'INSTALLER' }

/**
 * Makes the platform's realms and invites its first OWNER by a link for the terminal: no password is ever set for
 * anyone (decision 62). Until the invitation is taken, repeating it gives a new link.
 * @param input `email` in lower case
 * @throws {DomainError} USER_EXISTS where the platform has an OWNER already
 * @throws {IdentityUnavailableError}
 */
export async function initPlatform(
  app: Pick<App, 'pool' | 'ids' | 'identity' | 'config' | 'publicUrl'>,
  { email, displayName }: { email: string; displayName?: string | undefined },
): Promise<InitialisedPlatform> {
  const role = 'OWNER'
  const { link } = await addStaff(app, {
    email,
    displayName,
    role,
    actor: INSTALLER,
    deliver: 'link',
    onlyFirst: true,
  })
  const link_expires_at = new Date(Date.now() + app.config.inviteSeconds * 1000).toISOString()
  return { realm: PLATFORM_REALM, email, role, link, link_expires_at }
}
