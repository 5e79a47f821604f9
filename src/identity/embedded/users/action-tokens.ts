import { createHash } from 'node:crypto'
import type { CommonQueryMethods } from 'slonik'
import { issuerOf } from '../../../lib/realms.ts'
import type { EmbeddedParts } from '../parts.ts'
import { hashPassword, passwordProblem } from './passwords.ts'
import { closeInvites, closeLinks, findLink, insertLink, markLinkUsed } from './action-tokens-sql.ts'
import type { ActionLink, LinkPurpose } from './action-tokens-sql.ts'
import { endSessions } from '../protocol/sessions-sql.ts'
import { updatePassword } from './users-sql.ts'

export type NewActionLink = {
  /** The realm's slug. */
  realm: string
  userId: string
  purpose: LinkPurpose
  /** The client whose pages the user ends up at. */
  clientId: string
  redirectUri?: string | null | undefined
  lifespanSeconds: number
}

/**
 * Makes a link that sets the user's password once. Its token is in the address alone; what is kept is the token's hash,
 * which opens nothing. An invitation closes those before it, so that the newest is the only one that works.
 * @param db the caller's own handle: the link is there with what causes it, or not at all
 */
export async function createActionLink(
  parts: Pick<EmbeddedParts, 'ids' | 'publicUrl'>,
  db: CommonQueryMethods,
  { redirectUri = null, ...link }: NewActionLink,
): Promise<string> {
  const token = parts.ids.token()
  if (link.purpose === 'invite') await closeInvites(db, link.userId)
  await insertLink(db, { ...link, redirectUri, tokenHash: hashOf(token) })
  // The token stands in the query, for logs keep paths.
  return `${issuerOf(parts.publicUrl, link.realm)}/${link.purpose}?token=${token}`
}

type LinkToken = { realm: string; purpose: LinkPurpose; token: string }

/** The link, where it still works. Mail scanners open links, so opening one changes nothing. */
export function readActionLink(db: CommonQueryMethods, { token, ...link }: LinkToken): Promise<ActionLink | null> {
  return findLink(db, { ...link, tokenHash: hashOf(token) })
}

/** `unusable`: used, expired or never made. */
export type SetPasswordResult =
  | { outcome: 'set'; link: ActionLink }
  | { outcome: 'rejected'; link: ActionLink; problem: string }
  | { outcome: 'unusable' }

/**
 * Takes a link: sets the password, ends all sessions of the user, and closes its other links. Of any number of times at
 * once, one succeeds; a password that is refused uses nothing up.
 */
export async function setPasswordByLink(
  { pool }: Pick<EmbeddedParts, 'pool'>,
  { token, password, ...rest }: LinkToken & { password: string },
): Promise<SetPasswordResult> {
  const key = { ...rest, tokenHash: hashOf(token) }
  const link = await findLink(pool, key)
  if (link === null) return { outcome: 'unusable' }
  const problem = passwordProblem(password, link.email)
  if (problem !== undefined) return { outcome: 'rejected', link, problem }
  const passwordHash = await hashPassword(password)
  const isSet = await pool.transaction(async (tx) => {
    if (!(await markLinkUsed(tx, key))) return false
    const subject = await updatePassword(tx, { realm: key.realm, id: link.user_id, passwordHash })
    if (subject === null) return false
    await closeLinks(tx, link.user_id)
    await endSessions(tx, key.realm, subject)
    return true
  })
  return isSet ? { outcome: 'set', link } : { outcome: 'unusable' }
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}
