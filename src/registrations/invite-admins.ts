import type { App } from '../app.ts'
import { inviteCounted } from '../identity/invitation-limit.ts'
import type { InviteApp } from '../identity/invitation-limit.ts'
import { DomainError } from '../lib/errors.ts'
import { clientIdsOf } from '../lib/realms.ts'
import { claimInvites, postponeInvite, recordInviteFailure, recordInvited } from './invite-sql.ts'
import type { DueInvite } from './record.ts'
import { failureReason } from './roll-back.ts'

/** Maximum number of invitations in one run; the next run follows at once while there are more. */
const INVITES_MAX = 10

/** The wait after too many invitations, if the provider gives none. */
const LIMITED_SECONDS = 3_600

/** The job: invites the first administrators of new merchants, and retries until it works. */
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
    app.log.warn({ err: error, ...attempt }, 'could not invite an administrator; retrying later')
    await recordInviteFailure(app.pool, { id: invite.id, failure: failureReason(error) })
  }
}

/**
 * Sends one invitation.
 * @throws {DomainError} RATE_LIMITED if the administrator was invited too often
 * @throws {IdentityUnavailableError}
 */
export async function sendInvite(
  app: InviteApp,
  { slug, merchant_id, admin_user_id, admin_email }: Omit<DueInvite, 'id' | 'invite_attempts'>,
): Promise<void> {
  const invitation = {
    clientId: clientIdsOf(slug).portal,
    lifespanSeconds: app.config.inviteSeconds,
    deliver: 'mail',
    merchantId: merchant_id,
  } as const
  await inviteCounted(app, { realm: slug, userId: admin_user_id, email: admin_email, invitation })
}
