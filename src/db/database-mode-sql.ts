import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from './sql.ts'

const Mode = z.object({ mode: z.enum(['sandbox', 'live']) })

/** The database was first started in the other mode. */
export class DatabaseModeError extends Error {
  override readonly name = 'DatabaseModeError'
}

/**
 * Rejects a database of the other mode before anything starts, and gives a new database the mode of this start: a sandbox has
 * logins that everybody knows, and its balances would be paid out as real money (decision 415).
 * @throws {DatabaseModeError}
 */
export async function requireDatabaseMode(
  tx: CommonQueryMethods,
  configured: z.infer<typeof Mode>['mode'],
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    insert into database_mode (mode) values (${configured}) on conflict do nothing
  `)
  const { mode } = await tx.one(sql.type(Mode)`select mode from database_mode`)
  if (mode !== configured)
    throw new DatabaseModeError(`SVC_MODE is ${configured}, and this database was first started in ${mode} mode`)
}
