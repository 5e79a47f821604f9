import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { compareMigrations } from '../../../src/db/migrate.ts'
import { readMigrationFiles } from '../../../src/db/migration-files.ts'
import { AppliedMigration, FIND_RECORDS, READ_RECORDS } from '../../../src/db/migration-records-sql.ts'
import { packageRoot, packageVersion } from '../../../src/lib/package-root.ts'
import { finding, ok, skipped, reasonOf, within } from './check.ts'
import type { Verdict } from './check.ts'
import { openDatabase, MEMBERSHIP, MIGRATING, MISSING_RIGHTS } from './database-sql.ts'
import type { Database } from './database-sql.ts'
import type { DoctorTarget } from './target.ts'

/** One right of a role, as it is granted: on a whole table, or on one column of it. */
const Grant = z.object({
  kind: z.enum(['table', 'sequence', 'function', 'schema']),
  object: z.string(),
  privilege: z.string(),
  columns: z.string().nullable(),
})
type Grant = z.infer<typeof Grant>

/** What migrations grant to a role, each right once. A pending one has granted nothing yet. */
async function grantedIn(migrations: readonly string[], role: string): Promise<Grant[]> {
  const files = migrations
    .filter((name) => /^(\d{4}_|functions\/)\w+$/.test(name))
    .map((name) => [name, 'sql'].join('.'))
  const read = (file: string): Promise<string> => readFile(join(packageRoot(), 'migrations', file), 'utf8')
  const texts = await Promise.all(files.map((file) => read(file).catch(() => '')))
  const grants = texts.flatMap((text) => grantsOf(text, role))
  return [...new Map(grants.map((grant) => [JSON.stringify(grant), grant])).values()]
}

function grantsOf(text: string, role: string): Grant[] {
  const statement = new RegExp(String.raw`^grant\s+([^;]+?)\s+on\s+([^;]+?)\s+to\s+${role}\s*;`, 'gim')
  return [...text.replaceAll(/--.*$/gm, '').matchAll(statement)].flatMap(([, privileges = '', objects = '']) => {
    const [, word = 'table', names = ''] = /^(?:(table|sequence|function|schema)\s+)?([^]+)$/i.exec(objects) ?? []
    const kind = Grant.shape.kind.parse(word.toLowerCase())
    return parts(names).flatMap((object) =>
      parts(privileges).flatMap((privilege) => rightsOn({ kind, object }, privilege)),
    )
  })
}

/** `update (a, b)` is one right for each column. */
function rightsOn({ kind, object }: Pick<Grant, 'kind' | 'object'>, text: string): Grant[] {
  const [, privilege = '', columns] = /^(\w+)\s*(?:\(([^)]*)\))?$/.exec(text) ?? []
  if (columns === undefined) return [{ kind, object, privilege, columns: null }]
  return columns.split(',').map((column) => ({ kind, object, privilege, columns: column.trim() }))
}

/** Between commas that stand in no brackets. */
function parts(text: string): string[] {
  return text.split(/,(?![^(]*\))/).map((part) => part.trim().replaceAll(/\s+/g, ' '))
}

const Membership = z.object({ login: z.string(), member: z.boolean().nullable() })

/** Whether the service may act as its role, and that may what the migrations have granted it. */
export async function checkRuntime(database: Database): Promise<Verdict> {
  const { RUNTIME_ROLE: role } = await import('../../../src/app.ts')
  const [row] = await database.rows(MEMBERSHIP, [role])
  const { login, member } = Membership.parse(row)
  if (member === null) return finding(`there is no role ${role}: the migrations make it`, 'svc migrate up')
  if (!member) return finding(`${login} is no member of the role ${role}`, grantCommand(`grant ${role} to "${login}"`))
  const granted = await grantedIn(
    (await readApplied(database)).map(({ name }) => name),
    role,
  )
  const lacking = await database.rows(MISSING_RIGHTS, [JSON.stringify(granted), role])
  const missing = z.array(Grant).parse(lacking)
  if (missing.length === 0) return ok(`${login} acts as ${role}, which has all ${granted.length} rights`)
  return finding(
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
export async function checkMigrating({ migrationUrl }: DoctorTarget, database: Database): Promise<Verdict> {
  const isOwn = migrationUrl !== undefined && migrationUrl !== database.url
  const own = isOwn ? openDatabase(migrationUrl) : database
  try {
    const problem = await within(own.connected(), 2_500).then(() => undefined, reasonOf)
    if (problem !== undefined)
      return finding(problem.replaceAll('SVC_DATABASE_URL', 'SVC_MIGRATION_DATABASE_URL'), MIGRATION_URL)
    const [row] = await own.rows(MIGRATING)
    return migratingCheck(Migrating.parse(row), isOwn)
  } finally {
    if (isOwn) await own.close()
  }
}

const MIGRATION_URL = 'export SVC_MIGRATION_DATABASE_URL=postgres://<owner>:<password>@<host>:5432/<database>'

function migratingCheck({ login, creates, foreign_owner: owner }: z.infer<typeof Migrating>, isOwn: boolean): Verdict {
  if (owner === null && creates) return ok(`${login} owns the tables`)
  if (!isOwn) return skipped(`${login} runs the service alone, and SVC_MIGRATION_DATABASE_URL names no other`)
  if (owner !== null)
    return finding(
      `the tables belong to ${owner}, and ${login} is no member of it`,
      grantCommand(`grant "${owner}" to "${login}"`),
    )
  return finding(`${login} may not make tables`, grantCommand(`grant create on schema public to "${login}"`))
}

const Found = z.object({ functions: z.boolean() })

/** Whether the database has exactly the migrations and functions of this version. */
export async function checkMigrations(database: Database): Promise<Verdict> {
  const [files, applied] = await Promise.all([readMigrationFiles(), readApplied(database)])
  const { pending, newer } = compareMigrations(applied, { files, version: packageVersion() })
  const missing = pending.map(({ name }) => name)
  if (newer.length > 0)
    return finding(
      `a newer svc has migrated it: ${newer.join(', ')}, which this version does not know`,
      'git pull && npm ci',
    )
  if (missing.length === 0) return ok(`all ${files.length} are applied`)
  const text = applied.length === 0 ? 'it has not been migrated yet' : `${missing.length} are pending: ${told(missing)}`
  return finding(text, 'svc migrate up')
}

const TOLD_MAX = 3

function told(names: readonly string[]): string {
  const more = names.length > TOLD_MAX ? `, and ${names.length - TOLD_MAX} more` : ''
  return `${names.slice(0, TOLD_MAX).join(', ')}${more}`
}

async function readApplied(database: Database): Promise<AppliedMigration[]> {
  const [row] = await database.rows(FIND_RECORDS)
  if (!Found.parse(row).functions) return []
  return z.array(AppliedMigration).parse(await database.rows(READ_RECORDS))
}
