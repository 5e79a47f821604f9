import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'

/** Whether a session was signed out of. */
export async function hasEnded(db: CommonQueryMethods, id: string): Promise<boolean> {
  const { exists } = await db.one(sql.typeAlias('exists')`
    select exists (select from payer_sessions_ended where id = ${id}) as exists
  `)
  return exists
}

/** Notes that a session is over, until its token would be past its time anyway. */
export async function insertEnded(
  db: CommonQueryMethods,
  { id, expiresAt }: { id: string; expiresAt: string },
): Promise<void> {
  await db.query(sql.typeAlias('void')`
    insert into payer_sessions_ended (id, expires_at) values (${id}, ${expiresAt}::timestamptz) on conflict do nothing
  `)
}
