import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../../../db/sql.ts'

const LoginAttempt = z.object({ id: z.string(), subject: z.string(), password_hash: z.string() })
export type LoginAttempt = z.infer<typeof LoginAttempt>

const ActionLink = z.object({
  user_id: z.string(),
  email: z.string(),
  client_id: z.string(),
  redirect_uri: z.string().nullable(),
})
export type ActionLink = z.infer<typeof ActionLink>

const UserAddress = z.object({ id: z.string(), email: z.string() })
export type UserAddress = z.infer<typeof UserAddress>

const Login = z.object({ signed_in_at: z.bigint() })
const Count = z.object({ count: z.int() })
const Used = z.object({ user_id: z.string() })

export type LinkPurpose = 'invite' | 'reset'
type LinkKey = { realm: string; purpose: LinkPurpose; tokenHash: string }

/**
 * Takes the slot of one guess, before anything is known of it: looking first and counting after would let any number of
 * guesses at once through. From the fifth on each locks for longer, from a minute to fifteen; half a day after the last
 * lock the count begins anew.
 * @returns null where there is nothing to guess at: no such user, no password yet, disabled, or locked
 */
export function startLoginAttempt(db: CommonQueryMethods, realm: string, email: string): Promise<LoginAttempt | null> {
  return db.maybeOne(sql.prepared('take_idp_guess', LoginAttempt)`
    with person as (
      select id, case when locked_until < now() - interval '12 hours' then 1 else failed_logins + 1 end as guesses
      from idp.users
      where realm = ${realm} and email = ${email} and is_enabled and password_hash is not null
        and (locked_until is null or locked_until <= now())
      for update
    )
    update idp.users u
    set failed_logins = p.guesses,
      locked_until = case when p.guesses < 5 then null
        else now() + least(interval '60 seconds' * power(2, least(p.guesses - 5, 4)), interval '15 minutes') end
    from person p
    where u.id = p.id
    returning u.id, u.subject, u.password_hash
  `)
}

/**
 * A guess was right: forgets those before it.
 * @returns the moment of the sign-in in whole seconds, which is never before the sign-ins that count; null where the
 * password is another by now, or the user may not
 */
export async function recordLogin(db: CommonQueryMethods, { id, password_hash }: LoginAttempt): Promise<number | null> {
  const signedIn = await db.maybeOne(sql.prepared('record_idp_login', Login)`
    update idp.users
    set failed_logins = 0, locked_until = null, last_login_at = now()
    where id = ${id}::uuid and password_hash = ${password_hash} and is_enabled
    returning extract(
      epoch from greatest(sessions_valid_from, date_trunc('second', clock_timestamp()))
    )::int8 as signed_in_at
  `)
  return signedIn === null ? null : Number(signedIn.signed_in_at)
}

export type NewLink = LinkKey & {
  userId: string
  clientId: string
  redirectUri: string | null
  lifespanSeconds: number
}

export async function insertLink(db: CommonQueryMethods, link: NewLink): Promise<void> {
  await db.query(sql.typeAlias('void')`
    insert into idp.action_tokens (token_hash, realm, user_id, purpose, client_id, redirect_uri, expires_at)
    values (
      ${link.tokenHash}, ${link.realm}, ${link.userId}::uuid, ${link.purpose}, ${link.clientId}, ${link.redirectUri},
      now() + make_interval(secs => ${link.lifespanSeconds}::float8)
    )
  `)
}

/** A link that still works. Looking changes nothing. */
export function findLink(db: CommonQueryMethods, { realm, purpose, tokenHash }: LinkKey): Promise<ActionLink | null> {
  return db.maybeOne(sql.type(ActionLink)`
    select a.user_id, u.email, a.client_id, a.redirect_uri
    from idp.action_tokens a
    join idp.users u on u.id = a.user_id
    where a.token_hash = ${tokenHash} and a.realm = ${realm} and a.purpose = ${purpose}
      and a.used_at is null and a.expires_at > now() and u.is_enabled
  `)
}

/** Uses a link up. Of any number at once, one gets true. */
export async function markLinkUsed(db: CommonQueryMethods, { realm, purpose, tokenHash }: LinkKey): Promise<boolean> {
  const used = await db.maybeOne(sql.type(Used)`
    update idp.action_tokens
    set used_at = now()
    where token_hash = ${tokenHash} and realm = ${realm} and purpose = ${purpose}
      and used_at is null and expires_at > now()
    returning user_id
  `)
  return used !== null
}

/** Every other link of a user is worth nothing once one has set the password. */
export async function closeLinks(db: CommonQueryMethods, userId: string): Promise<void> {
  await db.query(sql.typeAlias('void')`
    update idp.action_tokens set used_at = now() where user_id = ${userId}::uuid and used_at is null
  `)
}

/** None of the user's invitations works any more. */
export async function closeInvites(db: CommonQueryMethods, userId: string): Promise<void> {
  await db.query(sql.typeAlias('void')`
    update idp.action_tokens
    set used_at = now()
    where user_id = ${userId}::uuid and purpose = 'invite' and used_at is null
  `)
}

/**
 * Who may have a link sent to this address. The row stays locked until the transaction ends, so that requests for one
 * person come one after the other.
 */
export function lockUserByEmail(db: CommonQueryMethods, realm: string, email: string): Promise<UserAddress | null> {
  return db.maybeOne(sql.type(UserAddress)`
    select id, email from idp.users where realm = ${realm} and email = ${email} and is_enabled for update
  `)
}

/** The links for a forgotten password that the last hour saw. Asked after `lockUserByEmail`, for only then it sees them all. */
export async function countResets(db: CommonQueryMethods, userId: string): Promise<number> {
  const { count } = await db.one(sql.type(Count)`
    select count(*)::int4 as count
    from idp.action_tokens
    where user_id = ${userId}::uuid and purpose = 'reset' and created_at > now() - interval '1 hour'
  `)
  return count
}
