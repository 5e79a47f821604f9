import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

/** Records that a dump was restored and verified, in the database that it is a back-up of. */
export async function putBackupVerification(
  tx: CommonQueryMethods,
  { isWhole, newestEventAt }: { isWhole: boolean; newestEventAt: string | null },
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    insert into backup_verification (id, is_whole, newest_event_at)
    values ('last', ${isWhole}, ${newestEventAt}::timestamptz)
    on conflict (id) do update set
      is_whole = excluded.is_whole, newest_event_at = excluded.newest_event_at, verified_at = now()
  `)
}

const BackupVerification = z.object({
  is_whole: z.boolean(),
  /** Whole hours since then. */
  verified_hours: z.int(),
  /** The trail had events then that were older than two days, and are not in it. */
  is_old: z.boolean(),
})
export type BackupVerification = z.infer<typeof BackupVerification>

/** The last one that was recorded. */
export function findBackupVerification(tx: CommonQueryMethods): Promise<BackupVerification | null> {
  return tx.maybeOne(sql.type(BackupVerification)`
    select b.is_whole, floor(extract(epoch from now() - b.verified_at) / 3600)::int4 as verified_hours,
      case
        when coalesce(b.newest_event_at, '-infinity') < b.verified_at - interval '2 days' then exists (
          select from payment_events e
          where e.created_at > coalesce(b.newest_event_at, '-infinity')
            and e.created_at < b.verified_at - interval '2 days'
        )
        else false
      end as is_old
    from backup_verification b
    where b.id = 'last'
  `)
}
