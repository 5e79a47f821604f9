import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../../../db/sql.ts'
import type { StateKey } from './state-sql.ts'

/** A session got another id: nothing is found, or kept, under the old one any more. */
export async function retireSession(db: CommonQueryMethods, { realm, model, idHash }: StateKey): Promise<void> {
  await db.query(sql.prepared('retire_idp_session', z.object({}))`
    update idp.state
    set ended_at = now(), uid_hash = null
    where realm = ${realm} and model = ${model} and id_hash = ${idHash} and ended_at is null
  `)
}

export type EndedSession = StateKey & {
  uidHash: string
  /** Sealed. */
  payload: string
  /** No session lives longer. */
  seconds: number
}

/** Somebody signed out: the session is over under every id that it has, or is given yet. */
export async function endSession(db: CommonQueryMethods, session: EndedSession): Promise<void> {
  await db.query(sql.prepared('end_idp_session', z.object({}))`
    insert into idp.state (realm, model, id_hash, payload, uid_hash, ended_at, expires_at)
    values (
      ${session.realm}, ${session.model}, ${session.idHash}, ${session.payload}, ${session.uidHash}, now(),
      now() + make_interval(secs => ${session.seconds}::float8)
    )
    on conflict (realm, model, id_hash) do update
    set ended_at = excluded.ended_at,
      payload = excluded.payload,
      uid_hash = excluded.uid_hash,
      expires_at = excluded.expires_at
  `)
}

/**
 * Ends the sessions of a user, and takes back all that it was granted. A request under way may write any of it back
 * afterwards, so from now on no sign-in counts that was made before. The moment is taken under the lock of the user's
 * row, which every sign-in needs too, and lies in the next second, for sign-ins are told apart by whole ones.
 */
export async function endSessions(db: CommonQueryMethods, realm: string, subject: string): Promise<void> {
  await db.query(sql.typeAlias('void')`
    with ended as (
      update idp.users
      set sessions_valid_from = greatest(sessions_valid_from, date_trunc('second', clock_timestamp())) + interval '1 second'
      where realm = ${realm} and subject = ${subject}
    )
    delete from idp.state where realm = ${realm} and subject = ${subject}
  `)
}
