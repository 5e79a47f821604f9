import { IdentityUnavailableError } from '../provider.ts'
import type { Invitation } from '../provider.ts'
import { adminPath } from './admin.ts'
import type { Admin } from './admin.ts'
import { mailServerOf } from './mail-server.ts'
import type { KeycloakSettings } from './settings.ts'
import { REQUIRED_ACTIONS } from './user-representation.ts'
import type { UserKey } from './users.ts'

/** Keycloak responds after its mail server has accepted or rejected the mail. */
const MAIL_TIMEOUT_MS = 20_000

/**
 * Lets Keycloak mail a link to choose a password. Keycloak gives its links to no other service, so `deliver: 'link'` sends a
 * mail too, and the result is always null.
 * @throws {IdentityUnavailableError} if the mail could not be sent; inviting again is the only remedy
 */
export async function inviteUser(
  { admin, settings }: { admin: Admin; settings: KeycloakSettings },
  { slug, userId }: UserKey,
  { clientId, redirectUri, lifespanSeconds }: Invitation,
): Promise<null> {
  await useMailServer(admin, settings, slug)
  const query = new URLSearchParams({ client_id: clientId, lifespan: String(lifespanSeconds) })
  if (redirectUri !== undefined) query.set('redirect_uri', redirectUri)
  const { status } = await admin.call({
    to: 'send an invitation',
    method: 'PUT',
    path: `${adminPath(slug, 'users', userId, 'execute-actions-email')}?${query.toString()}`,
    body: REQUIRED_ACTIONS,
    timeoutMs: MAIL_TIMEOUT_MS,
    // A retry would send a second mail.
    mayRepeat: false,
    acceptedStatuses: [404],
  })
  if (status === 404) throw new Error(`realm ${slug} has no user ${userId}`)
  return null
}

/**
 * Sets the realm's mail server to the configured one. Keycloak stores one per realm, and older realms would keep an
 * outdated one. Without a configured mail server the realm's own stays.
 */
async function useMailServer(admin: Admin, settings: KeycloakSettings, slug: string): Promise<void> {
  const smtpServer = mailServerOf(settings)
  if (smtpServer === undefined) return
  const to = 'set the mail server of a realm'
  const { status } = await admin.call({
    to,
    method: 'PUT',
    path: adminPath(slug),
    body: { smtpServer },
    acceptedStatuses: [404],
  })
  if (status === 404) throw new IdentityUnavailableError(`the identity provider has no realm ${slug}`)
}
