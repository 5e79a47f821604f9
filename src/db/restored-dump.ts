import { z } from 'zod'
import { makeAdminConnection } from './connection.ts'
import { migrateUp, migrationStatus } from './migrate.ts'
import { ANALYZE, IS_OF_SVC, NEWEST_EVENT } from './restored-dump-sql.ts'
import { DumpError } from './restore-dump.ts'

const Newest = z.object({ at: z.string().nullable() })

/**
 * Makes a restored database one that this version can read: migrated, and with statistics, which a dump has none of and
 * without which comparing it takes many times as long.
 * @throws {DumpError} where it is not a database of svc
 */
export async function prepareRestored(databaseUrl: string): Promise<{ migrated: string[]; newestAt: string | null }> {
  const client = await makeAdminConnection({ databaseUrl })
  try {
    const { rowCount } = await client.query(IS_OF_SVC)
    if (rowCount === 0) throw new DumpError('the dump was restored, and is not of a database of svc.')
    const isPending = (await migrationStatus({ databaseUrl })).some(({ state }) => state !== 'applied')
    const { applied } = isPending ? await migrateUp({ databaseUrl, log: () => undefined }) : { applied: [] }
    await client.query(ANALYZE)
    const { rows } = await client.query(NEWEST_EVENT)
    return { migrated: applied, newestAt: Newest.parse(rows[0]).at }
  } finally {
    await client.end()
  }
}
