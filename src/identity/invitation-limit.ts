import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import { recordSentMail, secondsToNextMailTo } from '../mail/queue.ts'
import { deleteMail, secondsToNextMailOfRealm } from '../mail/sql.ts'
import { IdentityUnavailableError } from './provider.ts'
import type { Invitation } from './provider.ts'

/** To one address; the same limit as for forgotten passwords (decision 137). */
const MAILS_PER_HOUR = 5
/** For one realm: a team is invited twice over. Anybody can register a merchant and name any address. */
const MAILS_PER_HOUR_OF_REALM = 200

/** The kind of an invitation's mail. */
export const INVITE = 'invite'

type LimitParts = Pick<App, 'config' | 'lookupHash'>

/**
 * Rejects an invitation too many, before anything is changed for it.
 * @throws {DomainError} RATE_LIMITED
 */
export async function checkInvitation(app: LimitParts & Pick<App, 'pool'>, slug: string, email: string): Promise<void> {
  await app.pool.transaction((tx) => rejectThrottled(app, tx, { slug, recipient: email }))
}

/**
 * Rejects an invitation too many. Where callers are rate limited, those of all realms to an address count together:
 * anybody can register merchants, each with a realm of its own, for the address of another person.
 * @throws {DomainError} RATE_LIMITED
 */
export async function rejectThrottled(
  parts: LimitParts,
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

export type InviteInput = { realm: string; userId: string; email: string; invitation: Invitation }

export type InviteApp = LimitParts & Pick<App, 'pool' | 'ids' | 'sealer' | 'identity'>

/**
 * Lets the provider invite a user. A provider that sends its mails itself does not know the limits, so they are counted
 * here, before the mail: a request at the same time must not send another one. What the provider says it did not send does
 * not count.
 * @returns the link, if it is not mailed
 * @throws {DomainError} RATE_LIMITED
 * @throws {IdentityUnavailableError}
 */
export async function inviteCounted(app: InviteApp, input: InviteInput): Promise<string | null> {
  const { identity, pool } = app
  const { realm, userId, invitation } = input
  const invite = (): Promise<string | null> => identity.inviteUser(realm, userId, invitation)
  if (identity.kind !== 'keycloak' || invitation.deliver !== 'mail') return invite()
  const mailId = await pool.transaction((tx) => count(app, tx, input))
  try {
    return await invite()
  } catch (error) {
    // What may have been sent counts: the limit would not hold while Keycloak's mail server is slow.
    const mayBeSent = error instanceof IdentityUnavailableError && error.mayHaveActed
    if (!mayBeSent) await deleteMail(pool, mailId)
    throw error
  }
}

async function count(
  app: InviteApp,
  tx: DatabaseTransactionConnection,
  { realm, email, invitation: { merchantId } }: InviteInput,
): Promise<string> {
  await rejectThrottled(app, tx, { slug: realm, recipient: email })
  const subject = `You are invited to ${realm}`
  return recordSentMail(app, tx, { merchantId, realm, kind: INVITE, recipient: email, subject })
}
