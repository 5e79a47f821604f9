import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import type { Client } from 'pg'
import { z } from 'zod'
import { makeAdminConnection } from './connection.ts'
import { packageRoot } from '../lib/package-root.ts'

export type MigrationOptions = {
  databaseUrl: string
  /** Another folder than the package's own migrations/, for tests. */
  folder?: string
}

export type MigrationState = {
  /** The file's name without `.sql`. */
  name: string
  /** ISO 8601 in UTC, or null while it is not applied. */
  appliedAt: string | null
}

/** The database was migrated by a newer version: nothing may run on it, and nothing was changed. */
export class NewerDatabaseError extends Error {
  override readonly name = 'NewerDatabaseError'
}

/** The database lacks migrations of this code: run it and every statement on what they make fails. */
export class UnmigratedDatabaseError extends Error {
  override readonly name = 'UnmigratedDatabaseError'
}

/** A file that the database refuses: its migration is not applied, those before it are. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError'
}

const table = 'schema_migrations'
// The role that the service acts as (migrations/0001_roles.sql). It must be able to see what is applied.
const readerRole = 'svc_runtime'
const fileName = /^\d{4}_[a-z0-9_]+\.sql$/
// Everything that is no migration (a README, an editor's backup) is passed over.
const ignoredNames = String.raw`(?!\d{4}_[a-z0-9_]+\.sql$).*`

// One fixed number for this project, so that two processes starting at once take turns.
const lockKey = '7387271932001'
// As long as a large migration may reasonably keep a second process waiting.
const lockWaitMs = 120_000
// A migration must not queue behind a long transaction, for all requests would queue behind it.
const ddlLockTimeoutMs = 10_000

const AppliedRow = z.object({ name: z.string(), applied_at: z.string() })

const defaultFolder = (): string => join(packageRoot(), 'migrations')

const knownNames = async (folder: string): Promise<string[]> => {
  const files = await readdir(folder)
  return files
    .filter((file) => fileName.test(file))
    .map((file) => file.slice(0, -'.sql'.length))
    .toSorted()
}

const appliedMigrations = async (client: Client): Promise<Map<string, string>> => {
  const found = await client.query<{ found: boolean }>(`select to_regclass('public.${table}') is not null as found`)
  if (found.rows[0]?.found !== true) return new Map()
  const { rows } = await client.query(
    `select name, run_on at time zone 'UTC' as applied_at from public.${table} order by run_on, id`,
  )
  return new Map(
    z
      .array(AppliedRow)
      .parse(rows)
      .map((row) => [row.name, row.applied_at]),
  )
}

const refuseNewer = (applied: ReadonlyMap<string, string>, known: readonly string[]): void => {
  const unknown = [...applied.keys()].filter((name) => !known.includes(name))
  if (unknown.length === 0) return
  throw new NewerDatabaseError(
    `The database carries ${unknown.join(', ')}, which this version of svc does not know: a newer version has ` +
      'upgraded it. Run that version or a newer one, or point SVC_DATABASE_URL at another database. Nothing was changed.',
  )
}

/** Lets the service see what is applied. Nothing to do where its role does not exist, as with other migrations' folders. */
const grantReading = async (client: Client): Promise<void> => {
  await client.query(`
    do $$
    begin
      if to_regclass('public.${table}') is not null
        and exists (select from pg_roles where rolname = '${readerRole}')
        and not has_table_privilege('${readerRole}', 'public.${table}', 'select')
      then
        grant select on public.${table} to ${readerRole};
      end if;
    end
    $$
  `)
}

/** Acts as the service's role where this login may: the right to read may be the role's alone. */
const actAsReader = async (client: Client): Promise<void> => {
  await client.query(
    `select set_config('role', rolname, false) from pg_roles where rolname = $1 and pg_has_role(oid, 'member')`,
    [readerRole],
  )
}

const BEGINS = /^### MIGRATION (?<name>\S+) \(UP\) ###/

type Told = { log: (line: string) => void; onBegin?: ((name: string) => void) | undefined }

const runPending = async (client: Client, folder: string, { log, onBegin }: Told): Promise<string[]> => {
  // Loaded only when there is something to run: it costs a start-up more than all the rest of this module.
  const { runner } = await import('node-pg-migrate')
  let current = ''
  const problem = (line: string): void => {
    const told = excerptOf(line)
    if (told !== '') log(told)
  }
  const quiet = (): void => undefined
  const begin = (line: string): void => {
    const name = BEGINS.exec(line)?.groups?.['name']
    if (name === undefined) return
    current = name
    onBegin?.(name)
  }
  const fail = (error: unknown): never => {
    throw isRefused(error) && current !== '' ? refusedBy(error, current) : error
  }
  const applied = await runner({
    dbClient: client,
    dir: folder,
    ignorePattern: ignoredNames,
    direction: 'up',
    migrationsTable: table,
    migrationsSchema: 'public',
    schema: 'public',
    checkOrder: true,
    // The lock is ours, taken before the look at what is applied.
    noLock: true,
    // Each file is its own transaction: a value added to an enum is then usable by the next file.
    singleTransaction: false,
    logger: { info: begin, warn: problem, error: problem, debug: quiet },
  }).catch(fail)
  return applied.map(({ name }) => name)
}

const EXECUTING = 'Error executing:'

/** A file's whole text is no message: of what the runner tells, the line that the server points at with the one before. */
const excerptOf = (line: string): string => {
  if (!line.startsWith(EXECUTING)) return line
  const lines = line.split('\n')
  const at = lines.findIndex((each) => /^ *\^{4}/.test(each))
  return at === -1 ? '' : lines.slice(Math.max(1, at - 2), at + 1).join('\n')
}

// Classes of SQLSTATE that say nothing of a statement: connection, resources, somebody who stops the server.
const ELSEWHERE = /^(08|53|57|58)/

const isRefused = (error: unknown): error is pg.DatabaseError =>
  error instanceof pg.DatabaseError && !ELSEWHERE.test(error.code ?? '')

const refusedBy = (cause: pg.DatabaseError, name: string): MigrationError =>
  new MigrationError(
    `The database refuses the migration ${name}: ${cause.message}. Nothing of it was kept; those before it are applied.`,
    { cause },
  )

/**
 * Applies the migrations that the database does not have yet, in order, each in its own transaction, under
 * an advisory lock: several processes may start at once, one works and the others find nothing to do. The
 * login of `databaseUrl` must own the schema. `log` gets one line per applied file and, of a
 * file that fails, the line that the server points at; `onBegin` is told the name of each file before it is applied.
 * Throws NewerDatabaseError on a database that is ahead of this code, MigrationError for a file that the database refuses.
 */
export const migrateUp = async (options: MigrationOptions & Told): Promise<{ applied: string[] }> => {
  const folder = options.folder ?? defaultFolder()
  const known = await knownNames(folder)
  const client = await makeAdminConnection({ databaseUrl: options.databaseUrl, applicationName: 'svc migrate' })
  try {
    await client.query(`set lock_timeout = ${lockWaitMs}`)
    await client.query(`select pg_advisory_lock(${lockKey})`)
    await client.query(`set lock_timeout = ${ddlLockTimeoutMs}`)
    const before = await appliedMigrations(client)
    refuseNewer(before, known)
    const isComplete = known.every((name) => before.has(name))
    const applied = isComplete ? [] : await runPending(client, folder, options)
    await grantReading(client)
    for (const name of applied) options.log(`migration ${name} applied`)
    return { applied }
  } finally {
    // Ending the session releases the lock, and rolls back what a failed file left open.
    await client.end()
  }
}

/**
 * Lists every migration of this code, and whether and when it was applied, in order; migrations that only
 * a newer version knows follow at the end. Changes nothing.
 */
export const migrationStatus = async (options: MigrationOptions): Promise<MigrationState[]> => {
  const known = await knownNames(options.folder ?? defaultFolder())
  const client = await makeAdminConnection({ databaseUrl: options.databaseUrl, applicationName: 'svc migrate' })
  try {
    const applied = await appliedMigrations(client)
    const names = [...new Set([...known, ...applied.keys()])]
    return names.map((name) => ({ name, appliedAt: applied.get(name) ?? null }))
  } finally {
    await client.end()
  }
}

const isForbidden = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === '42501'

/**
 * Makes sure, before a part of the service starts, that the database has exactly the migrations of this code. Changes
 * nothing, and needs no more than membership of the service's role. Throws UnmigratedDatabaseError where some are
 * missing, NewerDatabaseError where there are more, and the driver's error when the database cannot be reached.
 */
export const requireMigrated = async (options: MigrationOptions): Promise<void> => {
  const known = await knownNames(options.folder ?? defaultFolder())
  const client = await makeAdminConnection({ databaseUrl: options.databaseUrl, applicationName: 'svc' })
  try {
    await actAsReader(client)
    const applied = await appliedMigrations(client)
    refuseNewer(applied, known)
    const missing = known.filter((name) => !applied.has(name))
    if (missing.length === 0) return
    throw new UnmigratedDatabaseError(
      missing.length === known.length
        ? 'The database has not been migrated yet.'
        : `The database is older than this version of svc: it lacks ${missing.join(', ')}.`,
    )
  } catch (error) {
    if (!isForbidden(error)) throw error
    throw new UnmigratedDatabaseError(
      'This login may not see which migrations the database has: the migrations grant that to members of ' +
        `${readerRole}, so they have not run yet, or this login is no member.`,
      { cause: error },
    )
  } finally {
    await client.end()
  }
}
