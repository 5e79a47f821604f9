import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { packageRoot } from '../../../src/lib/package-root.ts'
import { finding, ok } from './check.ts'
import type { Check } from './check.ts'
import type { Database } from './database-connection.ts'
import { APPLIED, HAS_MIGRATIONS } from './database-sql.ts'

const Found = z.object({ found: z.boolean() })
const Name = z.object({ name: z.string() })

/** Whether the database has exactly the migrations of this version. */
export async function checkMigrations(database: Database): Promise<Check> {
  const [known, applied] = await Promise.all([knownMigrations(), appliedMigrations(database)])
  const missing = known.filter((name) => !applied.includes(name))
  const newer = applied.filter((name) => !known.includes(name))
  if (newer.length > 0)
    return finding(
      'migrations',
      `a newer svc has migrated it: ${newer.join(', ')}, which this version does not know`,
      'git pull && npm ci',
    )
  if (missing.length === 0) return ok('migrations', `all ${known.length} are applied`)
  const text = applied.length === 0 ? 'it has not been migrated yet' : `${missing.length} are pending: ${told(missing)}`
  return finding('migrations', text, 'svc migrate up')
}

const TOLD_MAX = 3

function told(names: readonly string[]): string {
  const more = names.length > TOLD_MAX ? `, and ${names.length - TOLD_MAX} more` : ''
  return `${names.slice(0, TOLD_MAX).join(', ')}${more}`
}

async function knownMigrations(): Promise<string[]> {
  const files = await readdir(join(packageRoot(), 'migrations'))
  return files
    .filter((file) => /^\d{4}_\w+\.sql$/.test(file))
    .map((file) => file.slice(0, -'.sql'.length))
    .toSorted()
}

/** In the order in which they were applied. */
export async function appliedMigrations(database: Database): Promise<string[]> {
  const [row] = await database.rows(HAS_MIGRATIONS)
  if (!Found.parse(row).found) return []
  const rows = await database.rows(APPLIED)
  return z
    .array(Name)
    .parse(rows)
    .map(({ name }) => name)
}
