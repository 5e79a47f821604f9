import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'

/** What of the sign-in has no use any more, each up to `limit` rows; answers how many rows the most of them were. */
export async function deleteOldSignIns(db: CommonQueryMethods, limit: number): Promise<number> {
  const deletions = [
    // Requests and failures count for an hour.
    sql.typeAlias('void')`
      delete from payer_link_requests
      where id in (select id from payer_link_requests where created_at < now() - interval '1 hour' limit ${limit})
    `,
    sql.typeAlias('void')`
      delete from payer_failed_verifications
      where ctid in (
        select ctid from payer_failed_verifications where created_at < now() - interval '1 hour' limit ${limit}
      )
    `,
    // A day longer than they work, for whoever asks what became of a link.
    sql.typeAlias('void')`
      delete from payer_tokens
      where id in (select id from payer_tokens where expires_at < now() - interval '1 day' limit ${limit})
    `,
    // A minute longer than their tokens are taken, for clocks differ.
    sql.typeAlias('void')`
      delete from payer_sessions_ended
      where id in (select id from payer_sessions_ended where expires_at < now() - interval '1 minute' limit ${limit})
    `,
  ]
  let most = 0
  for (const deletion of deletions) most = Math.max(most, (await db.query(deletion)).rowCount)
  return most
}
