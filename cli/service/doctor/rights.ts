import { z } from 'zod'
import { finding, ok, skipped } from './check.ts'
import type { Check } from './check.ts'
import { openDatabase } from './database-connection.ts'
import type { Database } from './database-connection.ts'
import { MEMBERSHIP, MIGRATING, MISSING_RIGHTS } from './database-sql.ts'
import { Grant, grantedIn } from './grants.ts'
import { appliedMigrations } from './migrations.ts'
import type { DoctorTarget } from './target.ts'
import { reasonOf, within } from './timed.ts'

const Membership = z.object({ login: z.string(), member: z.boolean().nullable() })

/** Whether the service may act as its role, and that may what the migrations have granted it. */
export async function checkRuntime(database: Database): Promise<Check> {
  const check = 'runtime rights'
  const { RUNTIME_ROLE: role } = await import('../../../src/app.ts')
  const [row] = await database.rows(MEMBERSHIP, [role])
  const { login, member } = Membership.parse(row)
  if (member === null) return finding(check, `there is no role ${role}: the migrations make it`, 'svc migrate up')
  if (!member)
    return finding(check, `${login} is no member of the role ${role}`, grantCommand(`grant ${role} to "${login}"`))
  const granted = await grantedIn(await appliedMigrations(database), role)
  const lacking = await database.rows(MISSING_RIGHTS, [JSON.stringify(granted), role])
  const missing = z.array(Grant).parse(lacking)
  if (missing.length === 0) return ok(check, `${login} acts as ${role}, which has all ${granted.length} rights`)
  return finding(
    check,
    `${role} may not ${missing.map((each) => rightText(each)).join(', ')}`,
    grantCommand(missing.map((each) => `grant ${rightText(each)} to ${role}`).join('; ')),
  )
}

function rightText({ kind, object, privilege, columns }: Grant): string {
  const what = columns === null ? privilege : `${privilege} (${columns})`
  return `${what} on ${kind === 'table' ? '' : `${kind} `}${object}`
}

function grantCommand(statement: string): string {
  return `psql "$SVC_MIGRATION_DATABASE_URL" -c '${statement}'`
}

const Migrating = z.object({ login: z.string(), creates: z.boolean(), foreign_owner: z.string().nullable() })

/** Whether the login that migrates may change the tables. A service's own login need not. */
export async function checkMigrating({ migrationUrl }: DoctorTarget, database: Database): Promise<Check> {
  const check = 'migrating rights'
  const isOwn = migrationUrl !== undefined && migrationUrl !== database.url
  const own = isOwn ? openDatabase(migrationUrl) : database
  try {
    const problem = await within(own.connected(), 2_500).then(() => undefined, reasonOf)
    if (problem !== undefined)
      return finding(check, problem.replaceAll('SVC_DATABASE_URL', 'SVC_MIGRATION_DATABASE_URL'), MIGRATION_URL)
    const [row] = await own.rows(MIGRATING)
    return migratingCheck(Migrating.parse(row), isOwn)
  } finally {
    if (isOwn) await own.close()
  }
}

const MIGRATION_URL = 'export SVC_MIGRATION_DATABASE_URL=postgres://<owner>:<password>@<host>:5432/<database>'

function migratingCheck({ login, creates, foreign_owner: owner }: z.infer<typeof Migrating>, isOwn: boolean): Check {
  const check = 'migrating rights'
  if (owner === null && creates) return ok(check, `${login} owns the tables`)
  if (!isOwn) return skipped(check, `${login} runs the service alone, and SVC_MIGRATION_DATABASE_URL names no other`)
  if (owner !== null)
    return finding(
      check,
      `the tables belong to ${owner}, and ${login} is no member of it`,
      grantCommand(`grant "${owner}" to "${login}"`),
    )
  return finding(check, `${login} may not make tables`, grantCommand(`grant create on schema public to "${login}"`))
}
