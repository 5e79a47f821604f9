import { isUuid } from '../../lib/ids.ts'
import { queueMail } from '../../mail/queue.ts'
import type { Invitation } from '../provider.ts'
import { createActionLink } from './action-tokens.ts'
import type { EmbeddedParts } from './parts.ts'
import { findRealm } from './realms-sql.ts'
import { findUserById } from './users-sql.ts'

/**
 * Invites a user to choose a password. The mail is queued with the link it carries, so that a mail server that is away
 * costs nothing but time; inviting again makes a second link beside the first.
 * @returns the link, where it is not sent
 * @throws when there is no such user
 */
export async function inviteUser(
  parts: EmbeddedParts,
  { slug, userId }: { slug: string; userId: string },
  invitation: Invitation,
): Promise<string | null> {
  const { clientId, redirectUri, lifespanSeconds, deliver, merchantId } = invitation
  const link = await parts.pool.transaction(async (tx) => {
    const realm = await findRealm(tx, slug)
    const user = isUuid(userId) ? await findUserById(tx, slug, userId) : null
    if (realm === null || user === null) throw new Error(`realm ${slug} has no user ${userId}`)
    const address = await createActionLink(parts, tx, {
      realm: slug,
      userId,
      purpose: 'invite',
      clientId,
      redirectUri,
      lifespanSeconds,
    })
    if (deliver === 'mail') {
      const name = realm.display_name
      await queueMail(parts, tx, {
        merchantId,
        kind: 'invite',
        recipient: user.email,
        subject: `You are invited to ${name}`,
        body: bodyOf({ name, email: user.email, address, lifespanSeconds }),
      })
    }
    return address
  })
  if (deliver === 'link') return link
  parts.wake.notify('send-mails')
  return null
}

type Letter = { name: string; email: string; address: string; lifespanSeconds: number }

function bodyOf({ name, email, address, lifespanSeconds }: Letter): string {
  return [
    `You are invited to sign in to ${name} as ${email}.`,
    `To begin, choose your password here:\n\n${address}`,
    `The link works once, for ${spanOf(lifespanSeconds)}.`,
    'If you did not expect this, ignore it: without the link nobody can sign in with your address.',
  ].join('\n\n')
}

function spanOf(seconds: number): string {
  const [count, unit] = seconds < 7_200 ? [Math.round(seconds / 60), 'minute'] : [Math.round(seconds / 3_600), 'hour']
  return `${String(count)} ${unit}${count === 1 ? '' : 's'}`
}
