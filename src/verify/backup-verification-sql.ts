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
})
export type BackupVerification = z.infer<typeof BackupVerification>

/** The last one that was recorded. */
export function findBackupVerification(tx: CommonQueryMethods): Promise<BackupVerification | null> {
  return tx.maybeOne(sql.type(BackupVerification)`
    select is_whole, floor(extract(epoch from now() - verified_at) / 3600)::int4 as verified_hours
    from backup_verification
    where id = 'last'
  `)
}
