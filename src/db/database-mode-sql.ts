import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from './sql.ts'

const Mode = z.object({ mode: z.enum(['sandbox', 'live']) })
type Mode = z.infer<typeof Mode>

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
  { mode, isStart }: { mode: Mode['mode']; isStart: boolean },
): Promise<void> {
  if (isStart)
    await tx.query(sql.type(z.object({}))`
      insert into database_mode (mode) values (${mode}) on conflict do nothing
    `)
  requireSameMode((await tx.maybeOne(sql.type(Mode)`select mode from database_mode`))?.mode, mode)
}

/** @throws {DatabaseModeError} unless the database has no mode yet, or the configured one */
export function requireSameMode(mode: string | undefined, configured: Mode['mode']): void {
  const problem = modeProblem(mode, configured)
  if (problem !== undefined) throw new DatabaseModeError(problem)
}

/** What is wrong with a database of this mode, if anything. */
export function modeProblem(mode: string | undefined, configured: Mode['mode']): string | undefined {
  if (mode === undefined || mode === configured) return undefined
  return `SVC_MODE is ${configured}, and this database was first started in ${mode} mode`
}
