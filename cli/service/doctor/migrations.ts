import { z } from 'zod'
import { compareMigrations } from '../../../src/db/migrate.ts'
import { readMigrationFiles } from '../../../src/db/migration-files.ts'
import { AppliedMigration, FIND_RECORDS, READ_RECORDS } from '../../../src/db/migration-records-sql.ts'
import { packageVersion } from '../../../src/lib/package-root.ts'
import { finding, ok } from './check.ts'
import type { Check } from './check.ts'
import type { Database } from './database-connection.ts'

const Found = z.object({ functions: z.boolean() })

/** Whether the database has exactly the migrations and functions of this version. */
export async function checkMigrations(database: Database): Promise<Check> {
  const [files, applied] = await Promise.all([readMigrationFiles(), readApplied(database)])
  const { pending, newer } = compareMigrations(applied, { files, version: packageVersion() })
  const missing = pending.map(({ name }) => name)
  if (newer.length > 0)
    return finding(
      'migrations',
      `a newer svc has migrated it: ${newer.join(', ')}, which this version does not know`,
      'git pull && npm ci',
    )
  if (missing.length === 0) return ok('migrations', `all ${files.length} are applied`)
  const text = applied.length === 0 ? 'it has not been migrated yet' : `${missing.length} are pending: ${told(missing)}`
  return finding('migrations', text, 'svc migrate up')
}

const TOLD_MAX = 3

function told(names: readonly string[]): string {
  const more = names.length > TOLD_MAX ? `, and ${names.length - TOLD_MAX} more` : ''
  return `${names.slice(0, TOLD_MAX).join(', ')}${more}`
}

/** The names of what is applied, in the order in which it was. */
export async function appliedMigrations(database: Database): Promise<string[]> {
  return (await readApplied(database)).map(({ name }) => name)
}

async function readApplied(database: Database): Promise<AppliedMigration[]> {
  const [row] = await database.rows(FIND_RECORDS)
  if (!Found.parse(row).functions) return []
  return z.array(AppliedMigration).parse(await database.rows(READ_RECORDS))
}
