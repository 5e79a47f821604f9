import type { DatabaseTransactionConnection } from 'slonik'
import { DomainError } from '../../../lib/errors.ts'
import { isUuid } from '../../../lib/ids.ts'
import { queueMail, secondsToNextMailTo } from '../../../mail/queue.ts'
import { quoteName } from '../../../mail/quote-name.ts'
import { secondsToNextMailOfRealm } from '../../../mail/sql.ts'
import type { Invitation } from '../../provider.ts'
import { createActionLink } from './action-tokens.ts'
import type { EmbeddedParts } from '../parts.ts'
import { findRealm } from '../realms/realms-sql.ts'
import { lockUser } from './users-sql.ts'

/** To one address; the same limit as for forgotten passwords (decision 137). */
const MAILS_PER_HOUR = 5
/** For one realm: a team is invited twice over. Anybody can register a merchant and name any address. */
const MAILS_PER_HOUR_OF_REALM = 200

const INVITE = 'invite'

/**
 * Invites a user to choose a password. The mail is queued in the transaction that creates its link, so an unavailable
 * mail server only delays it. Inviting again closes the earlier links; an address gets, and a realm sends, a limited
 * number of mails an hour.
 * @returns the link, if it is not mailed
 * @throws {DomainError} RATE_LIMITED
 * @throws if the user does not exist
 */
export async function inviteUser(
  parts: EmbeddedParts,
  { slug, userId }: { slug: string; userId: string },
  invitation: Invitation,
): Promise<string | null> {
  const { clientId, redirectUri, lifespanSeconds, deliver, merchantId } = invitation
  const link = await parts.pool.transaction(async (tx) => {
    const realm = await findRealm(tx, slug)
    const user = isUuid(userId) ? await lockUser(tx, slug, userId) : null
    if (realm === null || user === null) throw new Error(`realm ${slug} has no user ${userId}`)
    if (deliver === 'mail') await rejectThrottled(parts, tx, { slug, recipient: user.email })
    const address = await createActionLink(parts, tx, {
      realm: slug,
      userId,
      purpose: 'invite',
      clientId,
      redirectUri,
      lifespanSeconds,
    })
    if (deliver === 'mail') {
      // The registrant chose the display name, and the recipient may know neither name.
      const name = quoteName(realm.display_name)
      await queueMail(parts, tx, {
        realm: slug,
        kind: INVITE,
        recipient: user.email,
        merchantId,
        subject: `You are invited to ${slug}`,
        body: bodyOf({ slug, name, email: user.email, address, lifespanSeconds }),
      })
    }
    return address
  })
  if (deliver === 'link') return link
  parts.wake.notify('send-mails')
  return null
}

/** @throws {DomainError} RATE_LIMITED if no invitation would be mailed to the address now */
export async function checkInvitation(parts: EmbeddedParts, slug: string, email: string): Promise<void> {
  await parts.pool.transaction((tx) => rejectThrottled(parts, tx, { slug, recipient: email }))
}

/**
 * Rejects an invitation too many. Where callers are rate limited, those of all realms to an address count together:
 * anybody can register merchants, each with a realm of its own, for the address of another person.
 */
async function rejectThrottled(
  parts: EmbeddedParts,
  tx: DatabaseTransactionConnection,
  { slug, recipient }: { slug: string; recipient: string },
): Promise<void> {
  const realm = parts.config.rateLimits ? null : slug
  const toAddress = await secondsToNextMailTo(parts, tx, { recipient, kind: INVITE, realm }, MAILS_PER_HOUR)
  if (toAddress > 0) {
    throw new DomainError(
      'RATE_LIMITED',
      `too many invitations: at most ${MAILS_PER_HOUR} an hour are sent to one address`,
      { next: 'wait for the invitations already sent; the newest one works', retryAfterSeconds: toAddress },
    )
  }
  const ofRealm = await secondsToNextMailOfRealm(tx, { realm: slug, kind: INVITE }, MAILS_PER_HOUR_OF_REALM)
  if (ofRealm > 0) {
    throw new DomainError(
      'RATE_LIMITED',
      `too many invitations: at most ${MAILS_PER_HOUR_OF_REALM} an hour are sent for ${slug}`,
      { next: 'wait, then invite the others', retryAfterSeconds: ofRealm },
    )
  }
}

type InvitationMail = { slug: string; name: string; email: string; address: string; lifespanSeconds: number }

function bodyOf({ slug, name, email, address, lifespanSeconds }: InvitationMail): string {
  return [
    `You have been invited to sign in to ${slug} (display name: ${name}) as ${email}.`,
    `To accept, choose a password here:\n\n${address}`,
    `The link works once and expires after ${spanOf(lifespanSeconds)}.`,
    'If you did not expect this invitation, ignore it: without the link no one can sign in with your address.',
  ].join('\n\n')
}

function spanOf(seconds: number): string {
  const [count, unit] = seconds < 7_200 ? [Math.round(seconds / 60), 'minute'] : [Math.round(seconds / 3_600), 'hour']
  return `${String(count)} ${unit}${count === 1 ? '' : 's'}`
}
