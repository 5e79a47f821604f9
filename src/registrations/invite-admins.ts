import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { clientIdsOf } from '../lib/realms.ts'
import { claimInvites, postponeInvite, recordInviteFailure, recordInvited } from './invite-sql.ts'
import type { DueInvite } from './record.ts'
import { failureReason } from './roll-back.ts'

/** Invitations of one run; the next run follows at once while there are more. */
const INVITES_MAX = 10

/** How long a person who has been invited too often is left in peace, where the provider does not say. */
const LIMITED_SECONDS = 3_600

/** Invites the first administrators of merchants that have just registered, again and again until it works. A job. */
export async function inviteAdmins(app: App): Promise<{ more: boolean }> {
  const due = await claimInvites(app.pool, INVITES_MAX)
  await Promise.all(due.map((invite) => tryToInvite(app, invite)))
  return { more: due.length === INVITES_MAX }
}

async function tryToInvite(app: App, invite: DueInvite): Promise<void> {
  try {
    await sendInvite(app, invite)
    await recordInvited(app.pool, invite.id)
  } catch (error) {
    if (error instanceof DomainError && error.code === 'RATE_LIMITED') {
      await postponeInvite(app.pool, { id: invite.id, seconds: error.retryAfterSeconds ?? LIMITED_SECONDS })
      return
    }
    const attempt = { merchant_id: invite.merchant_id, attempt: invite.invite_attempts }
    app.log.warn({ err: error, ...attempt }, 'an administrator could not be invited; it is tried again later')
    await recordInviteFailure(app.pool, { id: invite.id, failure: failureReason(error) })
  }
}

/**
 * Sends one invitation.
 * @throws {DomainError} RATE_LIMITED for a person who is invited too often
 * @throws {IdentityUnavailableError}
 */
export async function sendInvite(
  app: Pick<App, 'identity' | 'config'>,
  { slug, merchant_id, admin_user_id }: Pick<DueInvite, 'slug' | 'merchant_id' | 'admin_user_id'>,
): Promise<void> {
  await app.identity.inviteUser(slug, admin_user_id, {
    clientId: clientIdsOf(slug).portal,
    lifespanSeconds: app.config.inviteSeconds,
    deliver: 'mail',
    merchantId: merchant_id,
  })
}
