import { isUuid } from '../../../lib/ids.ts'
import { queueMail } from '../../../mail/queue.ts'
import { quoteName } from '../../../mail/quote-name.ts'
import { INVITE, rejectThrottled } from '../../invitation-limit.ts'
import type { Invitation } from '../../provider.ts'
import { createActionLink } from './action-tokens.ts'
import type { EmbeddedParts } from '../parts.ts'
import { findRealm } from '../realms/realms-sql.ts'
import { lockUser } from './users-sql.ts'

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
