import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../../../db/sql.ts'
import { endTokens } from '../../token-cutoffs-sql.ts'
import type { StateKey } from './state-sql.ts'

/** A session changed its id: nothing is found or stored under the old id any more. */
export async function retireSession(tx: CommonQueryMethods, { realm, model, idHash }: StateKey): Promise<void> {
  await tx.query(sql.prepared('retire_idp_session', z.object({}))`
    update idp.state
    set ended_at = now(), uid_hash = null
    where realm = ${realm} and model = ${model} and id_hash = ${idHash} and ended_at is null
  `)
}

export type EndedSession = StateKey & {
  uidHash: string
  /** Sealed. */
  payload: string
  /** The maximum lifetime of a session. */
  seconds: number
}

/** Ends a session on sign-out, under every id it has or still gets. */
export async function endSession(tx: CommonQueryMethods, session: EndedSession): Promise<void> {
  await tx.query(sql.prepared('end_idp_session', z.object({}))`
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
 * Ends all sessions and access tokens of a user and revokes everything granted to it. A concurrent request may write
 * any of it back, so sign-ins made before no longer count. The time is taken under the lock of the user's row, which
 * every sign-in needs too, and is in the next second because sign-ins are compared by whole seconds.
 */
export async function endSessions(tx: CommonQueryMethods, realm: string, subject: string): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    with ended as (
      update idp.users
      set sessions_valid_from = greatest(sessions_valid_from, date_trunc('second', clock_timestamp())) + interval '1 second'
      where realm = ${realm} and subject = ${subject}
    )
    delete from idp.state where realm = ${realm} and subject = ${subject}
  `)
  await endTokens(tx, realm, { subject })
}
