import { createHash } from 'node:crypto'
import type { CommonQueryMethods } from 'slonik'
import { recordAction } from '../../../audit/record-action.ts'
import { issuerOf } from '../../../lib/realms.ts'
import { queueMail } from '../../../mail/queue.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { UserRecord } from '../record.ts'
import { hashPassword, passwordProblem } from './passwords.ts'
import { closeInvites, closeLinks, findLink, insertLink, markLinkUsed } from './action-tokens-sql.ts'
import type { ActionLink, LinkPurpose } from './action-tokens-sql.ts'
import { endSessions } from '../protocol/sessions-sql.ts'
import { findUserById, updatePassword } from './users-sql.ts'

export type NewActionLink = {
  /** The realm's slug. */
  realm: string
  userId: string
  purpose: LinkPurpose
  /** The client that the user is led to afterwards. */
  clientId: string
  redirectUri?: string | null | undefined
  lifespanSeconds: number
}

/**
 * Creates a single-use link that sets the user's password. Only the URL contains the token; the database keeps its
 * hash, which opens nothing. A new invitation closes the earlier ones, so that only the newest works.
 * @param tx the caller's transaction, so that the link exists exactly if its cause is committed
 */
export async function createActionLink(
  parts: Pick<EmbeddedParts, 'ids' | 'publicUrl'>,
  db: CommonQueryMethods,
  { redirectUri = null, ...link }: NewActionLink,
): Promise<string> {
  const token = parts.ids.token()
  if (link.purpose === 'invite') await closeInvites(db, link.userId)
  await insertLink(db, { ...link, redirectUri, tokenHash: hashOf(token) })
  // In the query, because logs keep paths.
  return `${issuerOf(parts.publicUrl, link.realm)}/${link.purpose}?token=${token}`
}

type LinkToken = { realm: string; purpose: LinkPurpose; token: string }

/** Returns the link if it still works. Mail scanners open links, so reading one changes nothing. */
export function readActionLink(db: CommonQueryMethods, { token, ...link }: LinkToken): Promise<ActionLink | null> {
  return findLink(db, { ...link, tokenHash: hashOf(token) })
}

/** `unusable`: used, expired or never created. */
export type SetPasswordResult =
  | { outcome: 'set'; link: ActionLink }
  | { outcome: 'rejected'; link: ActionLink; problem: string }
  | { outcome: 'unusable' }

type SetPasswordParts = Pick<EmbeddedParts, 'pool' | 'ids' | 'sealer' | 'lookupHash' | 'config' | 'publicUrl'>

/**
 * Sets the password with a link, ends all sessions of the user and closes the user's other links. Of several concurrent
 * calls one succeeds; a rejected password does not use the link up. It is in the audit trail, and after a reset the person
 * is mailed: another reader of the mailbox may have used the link, and deleted the mail that it came with.
 */
export async function setPasswordByLink(
  parts: SetPasswordParts,
  { token, password, ...rest }: LinkToken & { password: string },
): Promise<SetPasswordResult> {
  const { pool } = parts
  const key = { ...rest, tokenHash: hashOf(token) }
  const link = await findLink(pool, key)
  if (link === null) return { outcome: 'unusable' }
  const problem = passwordProblem(password, link.email)
  if (problem !== undefined) return { outcome: 'rejected', link, problem }
  const passwordHash = await hashPassword(password)
  const isSet = await pool.transaction(async (tx) => {
    if (!(await markLinkUsed(tx, key))) return false
    const subject = await updatePassword(tx, { realm: key.realm, id: link.user_id, passwordHash, isByLink: true })
    if (subject === null) return false
    await closeLinks(tx, link.user_id)
    await endSessions(tx, key.realm, subject)
    const user = await findUserById(tx, key.realm, link.user_id)
    if (user !== null) await noteNewPassword(parts, tx, user, key.purpose)
    return true
  })
  return isSet ? { outcome: 'set', link } : { outcome: 'unusable' }
}

async function noteNewPassword(
  parts: SetPasswordParts,
  tx: CommonQueryMethods,
  { id, realm, email, subject, roles }: UserRecord,
  purpose: LinkPurpose,
): Promise<void> {
  if (purpose === 'reset') {
    await queueMail(parts, tx, {
      merchantId: null,
      realm,
      kind: 'password',
      recipient: email,
      subject: `Your new password for ${realm}`,
      body: newPasswordMail({ realm, email, forgotAddress: `${issuerOf(parts.publicUrl, realm)}/forgot` }),
    })
  }
  // Last: until the commit all other recorded actions wait for this one.
  const actor = { id: subject, name: email, role: roles[0] ?? 'NONE' }
  const after = { realm, by: purpose }
  await recordAction(parts, tx, { actor, action: 'password.set', merchantId: null, subjectId: id, after })
}

type NewPassword = { realm: string; email: string; forgotAddress: string }

function newPasswordMail({ realm, email, forgotAddress }: NewPassword): string {
  return `A new password was chosen for signing in to ${realm} as ${email}, by a link that was mailed to this address. All sessions have ended.

If this was not you, another person reads your mail: secure your mailbox, then choose a new password at once, and tell an administrator of ${realm}:

${forgotAddress}
`
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
