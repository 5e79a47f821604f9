import { IdentityUnavailableError } from '../provider.ts'
import type { Invitation } from '../provider.ts'
import { adminPath } from './admin.ts'
import type { Admin } from './admin.ts'
import { mailServerOf } from './mail-server.ts'
import type { KeycloakSettings } from './settings.ts'
import { REQUIRED_ACTIONS } from './user-representation.ts'
import type { UserKey } from './users.ts'

/** Keycloak answers when its mail server has taken the mail, or not. */
const MAIL_TIMEOUT_MS = 20_000

/**
 * Has Keycloak send a mail whose link lets a user choose a password. It gives its links to nobody else, so `deliver:
 * 'link'` sends a mail too, and null is returned in any case.
 * @throws {IdentityUnavailableError} when the mail could not be sent; inviting again is all there is to do
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
    // Twice would be two mails.
    mayRepeat: false,
    acceptedStatuses: [404],
  })
  if (status === 404) throw new Error(`realm ${slug} has no user ${userId}`)
  return null
}

/**
 * Gives the realm the mail server of the configuration as it is today. Keycloak keeps one per realm, and a realm that
 * was made before a change would go on with the old one. Where none is configured, the realm's own is left alone.
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
