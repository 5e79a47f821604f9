import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../../../db/sql.ts'
import { StateRecord } from '../record.ts'

const Id = z.object({ id_hash: z.string() })
const Count = z.object({ count: z.int() })

/** The key of a stored item. */
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

/** Inserts or updates an item. An update never clears that it was consumed, and an ended session stays ended. */
export async function upsertState(tx: CommonQueryMethods, state: NewState): Promise<void> {
  await tx.query(sql.prepared('upsert_idp_state', z.object({}))`
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
 * Whether a row is valid. A concurrent request may have written a row with the uid of a session that has ended
 * meanwhile, so this is checked when reading and not only when writing.
 */
const isAlive = sql.fragment`
  s.ended_at is null
  and not exists (
    select 1
    from idp.state o
    where o.realm = s.realm and o.uid_hash = s.uid_hash and o.model = s.model and o.ended_at is not null
  )
`

export function findState(tx: CommonQueryMethods, { realm, model, idHash }: StateKey): Promise<StateRecord | null> {
  return tx.maybeOne(sql.prepared('find_idp_state', StateRecord)`
    select s.id_hash, s.payload, s.consumed_at
    from idp.state s
    where s.realm = ${realm} and s.model = ${model} and s.id_hash = ${idHash} and ${isAlive}
  `)
}

/** The newest row with this code: an expired one may not be deleted yet. */
export function findStateByUserCode(
  tx: CommonQueryMethods,
  { realm, model, userCodeHash }: { realm: string; model: string; userCodeHash: string },
): Promise<StateRecord | null> {
  return tx.maybeOne(sql.prepared('find_idp_state_by_user_code', StateRecord)`
    select id_hash, payload, consumed_at
    from idp.state
    where realm = ${realm} and user_code_hash = ${userCodeHash} and model = ${model}
    order by expires_at desc
    limit 1
  `)
}

/** The newest row with this uid: a session keeps it when its id changes. */
export function findStateByUid(
  tx: CommonQueryMethods,
  { realm, model, uidHash }: { realm: string; model: string; uidHash: string },
): Promise<StateRecord | null> {
  return tx.maybeOne(sql.prepared('find_idp_state_by_uid', StateRecord)`
    select s.id_hash, s.payload, s.consumed_at
    from idp.state s
    where s.realm = ${realm} and s.uid_hash = ${uidHash} and s.model = ${model} and ${isAlive}
    order by s.expires_at desc
    limit 1
  `)
}

/** Marks an item as consumed. Of several concurrent calls one returns true. */
export async function consumeState(tx: CommonQueryMethods, { realm, model, idHash }: StateKey): Promise<boolean> {
  const consumed = await tx.maybeOne(sql.prepared('consume_idp_state', Id)`
    update idp.state
    set consumed_at = now()
    where realm = ${realm} and model = ${model} and id_hash = ${idHash} and consumed_at is null
    returning id_hash
  `)
  return consumed !== null
}

const Polled = z.object({ is_early: z.boolean() })

/** Records that a device asked for its code. @returns whether it had asked within so many seconds before */
export async function markPolled(
  tx: CommonQueryMethods,
  { realm, model, idHash, seconds }: StateKey & { seconds: number },
): Promise<boolean> {
  const polled = await tx.maybeOne(sql.prepared('mark_idp_state_polled', Polled)`
    update idp.state s
    set polled_at = now()
    from (
      select polled_at from idp.state
      where realm = ${realm} and model = ${model} and id_hash = ${idHash}
      for update
    ) before
    where s.realm = ${realm} and s.model = ${model} and s.id_hash = ${idHash}
    returning coalesce(before.polled_at > now() - make_interval(secs => ${seconds}::float8), false) as is_early
  `)
  return polled?.is_early === true
}

/**
 * Revokes the grant of a consumed token or code, which invalidates everything issued under it. Only the grant's own row
 * is deleted, so concurrent calls are safe; the other rows expire.
 * @returns the user that the token or code belongs to
 */
export async function revokeGrantOf(
  tx: CommonQueryMethods,
  { realm, model, idHash }: StateKey,
): Promise<string | null> {
  const row = await tx.maybeOne(sql.prepared('revoke_idp_grant', Subject)`
    with used as (
      select grant_hash, subject from idp.state where realm = ${realm} and model = ${model} and id_hash = ${idHash}
    ), revoked as (
      delete from idp.state g
      using used
      where g.realm = ${realm} and g.model = 'Grant' and g.id_hash = used.grant_hash
    )
    select subject from used
  `)
  return row?.subject ?? null
}

const Subject = z.object({ subject: z.string().nullable() })

export async function deleteState(tx: CommonQueryMethods, { realm, model, idHash }: StateKey): Promise<void> {
  await tx.query(sql.prepared('delete_idp_state', z.object({}))`
    delete from idp.state where realm = ${realm} and model = ${model} and id_hash = ${idHash}
  `)
}

/**
 * Deletes the items of one kind that were issued under a grant.
 * @returns the user that they belong to; null if there were none
 */
export async function deleteStateOfGrant(
  tx: CommonQueryMethods,
  { realm, model, grantHash }: { realm: string; model: string; grantHash: string },
): Promise<string | null> {
  const rows = await tx.any(sql.prepared('delete_idp_state_of_grant', Subject)`
    delete from idp.state where realm = ${realm} and grant_hash = ${grantHash} and model = ${model} returning subject
  `)
  return rows[0]?.subject ?? null
}

/**
 * Deletes up to `limit` expired items.
 * @returns the number of deleted rows
 */
export async function sweepState(tx: CommonQueryMethods, limit: number): Promise<number> {
  const { count } = await tx.one(sql.type(Count)`
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

/**
 * Deletes up to `limit` action links that expired a day ago.
 * @returns the number of deleted rows
 */
export async function sweepActionTokens(tx: CommonQueryMethods, limit: number): Promise<number> {
  const { count } = await tx.one(sql.type(Count)`
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
