import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'

/** Once a minute, however many processes the person speaks to. */
export async function markSeen(db: CommonQueryMethods, userId: string): Promise<void> {
  await db.query(sql.typeAlias('void')`
    update platform_users
    set last_seen_at = now()
    where id = ${userId} and (last_seen_at is null or last_seen_at < now() - interval '1 minute')
  `)
}
