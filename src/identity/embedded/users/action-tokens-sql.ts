import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../../../db/sql.ts'

const ActionLink = z.object({
  user_id: z.string(),
  email: z.string(),
  client_id: z.string(),
  redirect_uri: z.string().nullable(),
})
export type ActionLink = z.infer<typeof ActionLink>

const Count = z.object({ count: z.int() })
const Used = z.object({ user_id: z.string() })

export type LinkPurpose = 'invite' | 'reset'
type LinkKey = { realm: string; purpose: LinkPurpose; tokenHash: string }

export type NewLink = LinkKey & {
  userId: string
  clientId: string
  redirectUri: string | null
  lifespanSeconds: number
}

export async function insertLink(tx: CommonQueryMethods, link: NewLink): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    insert into idp.action_tokens (token_hash, realm, user_id, purpose, client_id, redirect_uri, expires_at)
    values (
      ${link.tokenHash}, ${link.realm}, ${link.userId}::uuid, ${link.purpose}, ${link.clientId}, ${link.redirectUri},
      now() + make_interval(secs => ${link.lifespanSeconds}::float8)
    )
  `)
}

/** A link that still works. Reading changes nothing. */
export function findLink(tx: CommonQueryMethods, { realm, purpose, tokenHash }: LinkKey): Promise<ActionLink | null> {
  return tx.maybeOne(sql.type(ActionLink)`
    select a.user_id, u.email, a.client_id, a.redirect_uri
    from idp.action_tokens a
    join idp.users u on u.id = a.user_id
    where a.token_hash = ${tokenHash} and a.realm = ${realm} and a.purpose = ${purpose}
      and a.used_at is null and a.expires_at > now() and u.is_enabled
  `)
}

/** Marks a link as used. Of several concurrent calls one returns true. */
export async function markLinkUsed(tx: CommonQueryMethods, { realm, purpose, tokenHash }: LinkKey): Promise<boolean> {
  const used = await tx.maybeOne(sql.type(Used)`
    update idp.action_tokens
    set used_at = now()
    where token_hash = ${tokenHash} and realm = ${realm} and purpose = ${purpose}
      and used_at is null and expires_at > now()
    returning user_id
  `)
  return used !== null
}

/** Closes all links of a user, once one of them has set the password. */
export async function closeLinks(tx: CommonQueryMethods, userId: string): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update idp.action_tokens set used_at = now() where user_id = ${userId}::uuid and used_at is null
  `)
}

/** Closes all invitations of a user. */
export async function closeInvites(tx: CommonQueryMethods, userId: string): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update idp.action_tokens
    set used_at = now()
    where user_id = ${userId}::uuid and purpose = 'invite' and used_at is null
  `)
}

/**
 * The number of reset links of the last hour. Call it after `lockUserByEmail`, which makes concurrent requests visible.
 */
export async function countResets(tx: CommonQueryMethods, userId: string): Promise<number> {
  const { count } = await tx.one(sql.type(Count)`
    select count(*)::int4 as count
    from idp.action_tokens
    where user_id = ${userId}::uuid and purpose = 'reset' and created_at > now() - interval '1 hour'
  `)
  return count
}
