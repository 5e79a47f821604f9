import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../../../db/sql.ts'
import { StateRecord } from '../record.ts'

const Id = z.object({ id_hash: z.string() })
const Count = z.object({ count: z.int() })

/** The name of one remembered thing. */
export type StateKey = { realm: string; model: string; idHash: string }

export type NewState = StateKey & {
  /** Sealed. */
  payload: string
  grantHash: string | null
  uidHash: string | null
  userCodeHash: string | null
  subject: string | null
  seconds: number
}

/** Remembers it, or what changed of it. That it was used up is never forgotten so, and what is over stays over. */
export async function upsertState(db: CommonQueryMethods, state: NewState): Promise<void> {
  await db.query(sql.prepared('upsert_idp_state', z.object({}))`
    insert into idp.state (
      realm, model, id_hash, payload, grant_hash, uid_hash, user_code_hash, subject, expires_at
    )
    values (
      ${state.realm}, ${state.model}, ${state.idHash}, ${state.payload}, ${state.grantHash}, ${state.uidHash},
      ${state.userCodeHash}, ${state.subject}, now() + make_interval(secs => ${state.seconds}::float8)
    )
    on conflict (realm, model, id_hash) do update
    set payload = excluded.payload,
      grant_hash = excluded.grant_hash,
      uid_hash = excluded.uid_hash,
      user_code_hash = excluded.user_code_hash,
      subject = excluded.subject,
      expires_at = excluded.expires_at
    where idp.state.ended_at is null
  `)
}

/**
 * Whether a row still counts. Of a session that is over any row with its uid may have been written meanwhile, by a
 * request that began before; so this is asked when reading, and not only when writing.
 */
const isAlive = sql.fragment`
  s.ended_at is null
  and not exists (
    select 1
    from idp.state o
    where o.realm = s.realm and o.uid_hash = s.uid_hash and o.model = s.model and o.ended_at is not null
  )
`

export function findState(db: CommonQueryMethods, { realm, model, idHash }: StateKey): Promise<StateRecord | null> {
  return db.maybeOne(sql.prepared('find_idp_state', StateRecord)`
    select s.id_hash, s.payload, s.consumed_at
    from idp.state s
    where s.realm = ${realm} and s.model = ${model} and s.id_hash = ${idHash} and ${isAlive}
  `)
}

/** The newest where several have the code: an old one may still wait to be swept. */
export function findStateByUserCode(
  db: CommonQueryMethods,
  { realm, model, userCodeHash }: { realm: string; model: string; userCodeHash: string },
): Promise<StateRecord | null> {
  return db.maybeOne(sql.prepared('find_idp_state_by_user_code', StateRecord)`
    select id_hash, payload, consumed_at
    from idp.state
    where realm = ${realm} and user_code_hash = ${userCodeHash} and model = ${model}
    order by expires_at desc
    limit 1
  `)
}

/** The newest where several have the uid: a session that was renamed keeps it. */
export function findStateByUid(
  db: CommonQueryMethods,
  { realm, model, uidHash }: { realm: string; model: string; uidHash: string },
): Promise<StateRecord | null> {
  return db.maybeOne(sql.prepared('find_idp_state_by_uid', StateRecord)`
    select s.id_hash, s.payload, s.consumed_at
    from idp.state s
    where s.realm = ${realm} and s.uid_hash = ${uidHash} and s.model = ${model} and ${isAlive}
    order by s.expires_at desc
    limit 1
  `)
}

/** Uses it up. False where someone else did before: of any number at once, one gets true. */
export async function consumeState(db: CommonQueryMethods, { realm, model, idHash }: StateKey): Promise<boolean> {
  const consumed = await db.maybeOne(sql.prepared('consume_idp_state', Id)`
    update idp.state
    set consumed_at = now()
    where realm = ${realm} and model = ${model} and id_hash = ${idHash} and consumed_at is null
    returning id_hash
  `)
  return consumed !== null
}

/**
 * Takes back the grant that a used-up token or code came from, with which everything that came of it is worth nothing.
 * Only the grant's own row goes, so that any number may do it at once; the others expire.
 */
export async function revokeGrantOf(db: CommonQueryMethods, { realm, model, idHash }: StateKey): Promise<void> {
  await db.query(sql.prepared('revoke_idp_grant', z.object({}))`
    delete from idp.state g
    using idp.state s
    where s.realm = ${realm} and s.model = ${model} and s.id_hash = ${idHash}
      and g.realm = s.realm and g.model = 'Grant' and g.id_hash = s.grant_hash
  `)
}

export async function deleteState(db: CommonQueryMethods, { realm, model, idHash }: StateKey): Promise<void> {
  await db.query(sql.prepared('delete_idp_state', z.object({}))`
    delete from idp.state where realm = ${realm} and model = ${model} and id_hash = ${idHash}
  `)
}

/** What a grant gave out of one kind. */
export async function deleteStateOfGrant(
  db: CommonQueryMethods,
  { realm, model, grantHash }: { realm: string; model: string; grantHash: string },
): Promise<void> {
  await db.query(sql.prepared('delete_idp_state_of_grant', z.object({}))`
    delete from idp.state where realm = ${realm} and grant_hash = ${grantHash} and model = ${model}
  `)
}

/** Forgets up to `limit` things that are expired, used up or not. @returns how many they were */
export async function sweepState(db: CommonQueryMethods, limit: number): Promise<number> {
  const { count } = await db.one(sql.type(Count)`
    with expired as (
      select realm, model, id_hash
      from idp.state
      where expires_at < now() - interval '1 minute'
      order by expires_at
      limit ${limit}
      for update skip locked
    ),
    gone as (
      delete from idp.state s
      using expired e
      where s.realm = e.realm and s.model = e.model and s.id_hash = e.id_hash
      returning 1
    )
    select count(*)::int4 as count from gone
  `)
  return count
}

/** Forgets up to `limit` links that set a password and expired a day ago. @returns how many they were */
export async function sweepActionTokens(db: CommonQueryMethods, limit: number): Promise<number> {
  const { count } = await db.one(sql.type(Count)`
    with expired as (
      select token_hash
      from idp.action_tokens
      where expires_at < now() - interval '1 day'
      limit ${limit}
      for update skip locked
    ),
    gone as (
      delete from idp.action_tokens a using expired e where a.token_hash = e.token_hash returning 1
    )
    select count(*)::int4 as count from gone
  `)
  return count
}
