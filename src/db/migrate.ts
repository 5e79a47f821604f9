import pg from 'pg'
import type { Client } from 'pg'
import { z } from 'zod'
import { packageVersion } from '../lib/package-root.ts'
import { isInUpgradeWindow, isNewerVersion } from '../lib/versions.ts'
import { makeAdminConnection } from './connection.ts'
import {
  MigrationError,
  NewerDatabaseError,
  ObsoleteDatabaseError,
  UnmigratedDatabaseError,
} from './migration-errors.ts'
import { excerptOf, readMigrationFiles } from './migration-files.ts'
import type { MigrationFile } from './migration-files.ts'
import {
  AppliedMigration,
  CREATE_RECORDS,
  FIND_RECORDS,
  FIND_RECORDS_AS_READER,
  FORGET_FUNCTIONS,
  GRANT_READING,
  READER_ROLE,
  READ_RECORDS,
  RECORD_FUNCTIONS,
  RECORD_MIGRATION,
} from './migration-records-sql.ts'
import { continueFeed, rejectRestored } from './restored-feed.ts'

/*
 * Two kinds of files. Migrations (`migrations/0002_merchants.sql`) are applied once, in the order of their numbers.
 * Functions (`migrations/functions/money_text.sql`) are applied again whenever their text changes.
 *
 * A process checks the database only when it starts. One that is already running when a newer version migrates continues
 * with the new tables and functions, and one that restarts meanwhile starts again: the migrations and functions of a minor
 * release serve the release before it (decision 277). Older versions are rejected with NewerDatabaseError. None replaces
 * newer functions: the version that applied a file is recorded with it. Where both are the same version, as in
 * development, the last one to migrate wins.
 */

export type MigrationOptions = {
  databaseUrl: string
  /** Another folder than the package's own migrations/, for tests. */
  folder?: string
  /** Another version than the package's own, for tests. */
  version?: string
}

export type MigrationState = {
  /** `0002_merchants`, or `functions/money_text`. */
  name: string
  /** `changed` is a function that was applied with another text. */
  state: 'applied' | 'pending' | 'changed'
  /** ISO 8601 in UTC, or null while it is not applied. */
  appliedAt: string | null
}

// One fixed number for this project, so that two processes that start at once take turns.
const lockKey = '7387271932001'
// As long as a large migration may reasonably keep a second process waiting.
const lockWaitMs = 120_000
// A migration must not queue behind a long transaction, because all requests would queue behind the migration.
const ddlLockTimeoutMs = 10_000

const readRecords = async (client: Client, find: string = FIND_RECORDS): Promise<AppliedMigration[]> => {
  const [found] = (await client.query<{ migrations: boolean; functions: boolean }>(find)).rows
  if (found?.migrations !== true) return []
  if (!found.functions)
    throw new ObsoleteDatabaseError(
      'The database was created by a preview of svc whose migrations no longer exist, and cannot be upgraded. Create a ' +
        'new database (svc up: another --state-dir), or point SVC_DATABASE_URL at another one. Nothing was changed.',
    )
  const { rows } = await client.query(READ_RECORDS)
  return z.array(AppliedMigration).parse(rows)
}

const byName = (applied: readonly AppliedMigration[]): Map<string, AppliedMigration> =>
  new Map(applied.map((row) => [row.name, row]))

const stateOf = (file: MigrationFile, row: AppliedMigration | undefined): MigrationState['state'] => {
  if (row === undefined) return 'pending'
  return file.kind === 'function' && row.sha256 !== file.sha256 ? 'changed' : 'applied'
}

type Expected = { files: readonly MigrationFile[]; version: string }

/**
 * Compares a database with the files of this code: `pending` are those to apply, `newer` the migrations that this code does
 * not know, and the functions that a newer version than this one applied with another text.
 */
const compareMigrations = (
  applied: readonly AppliedMigration[],
  { files, version }: Expected,
): { pending: MigrationFile[]; newer: AppliedMigration[] } => {
  const rows = byName(applied)
  const known = new Map(files.map((file) => [file.name, file]))
  const isNewer = (row: AppliedMigration): boolean => {
    if (row.kind === 'migration') return !known.has(row.name)
    return row.sha256 !== known.get(row.name)?.sha256 && isNewerVersion(row.version ?? '', version)
  }
  return {
    pending: files.filter((file) => stateOf(file, rows.get(file.name)) !== 'applied'),
    newer: applied.filter((row) => isNewer(row)),
  }
}

/** The files to apply. @throws {NewerDatabaseError} on a database that is ahead of this code */
const pendingOf = (applied: readonly AppliedMigration[], expected: Expected): MigrationFile[] => {
  const { pending, newer } = compareMigrations(applied, expected)
  if (newer.length === 0) return pending
  throw newerDatabase(newer, expected)
}

const newerDatabase = (newer: readonly AppliedMigration[], expected: Expected): NewerDatabaseError =>
  new NewerDatabaseError(
    `The database carries ${newer.map(({ name }) => name).join(', ')}, which this version of svc (${expected.version}) does not know: a newer ` +
      'version has upgraded it. Run that version or a newer one, or point SVC_DATABASE_URL at another database. Nothing ' +
      'was changed.',
  )

/**
 * What a process needs and does not find. On a database that the next release has migrated, only migrations: that release
 * has its own functions in place of ours, and may have removed those that ours no longer calls.
 * @throws {NewerDatabaseError} on a database that is ahead by more than a release
 */
const missingOf = (applied: readonly AppliedMigration[], expected: Expected): MigrationFile[] => {
  const { pending, newer } = compareMigrations(applied, expected)
  if (newer.length === 0) return pending
  const isNext = ({ version }: AppliedMigration): boolean =>
    version !== null && isNewerVersion(version, expected.version) && isInUpgradeWindow(expected.version, version)
  if (!newer.every(isNext)) throw newerDatabase(newer, expected)
  return pending.filter(({ kind }) => kind === 'migration')
}

/** Two branches that each add a migration may be merged in the other order than they were applied. */
const rejectOutOfOrder = (files: readonly MigrationFile[], applied: readonly AppliedMigration[]): void => {
  const rows = byName(applied)
  const migrations = files.filter(({ kind }) => kind === 'migration')
  const last = migrations.findLast(({ name }) => rows.has(name))
  const skipped = migrations.slice(0, last && migrations.indexOf(last)).find(({ name }) => !rows.has(name))
  if (last === undefined || skipped === undefined) return
  throw new MigrationError(
    `The database has the migration ${last.name}, but not ${skipped.name} before it: migrations are applied in the order ` +
      'of their numbers. Give the newer file the next free number. Nothing was changed.',
  )
}

type Progress = {
  /** Gets one line for each migration and one for the functions, and the line of a file that the database rejects. */
  log: (line: string) => void
  /** Gets the name of each file before it is applied. */
  onBegin?: ((name: string) => void) | undefined
}

/** `isRestored`: the database has forgotten transactions, by a restore or a failover (decision 449). */
export type MigrateUpOptions = MigrationOptions & Progress & { isRestored?: boolean }

const apply = async (client: Client, file: MigrationFile, { log, onBegin }: Progress): Promise<void> => {
  onBegin?.(file.name)
  try {
    await client.query(file.text)
  } catch (error) {
    if (!isRejected(error)) throw error
    log(excerptOf(file, error.position))
    const kept =
      file.kind === 'migration'
        ? 'None of it was kept; the migrations before it are applied.'
        : 'None of the functions was changed; the migrations before it are applied.'
    throw new MigrationError(`The database rejected the ${file.kind} ${file.name}: ${error.message}. ${kept}`, {
      cause: error,
    })
  }
}

// Classes of SQLSTATE that say nothing about a statement: connection, resources, a server that stops.
const ELSEWHERE = /^(08|53|57|58)/

const isRejected = (error: unknown): error is pg.DatabaseError =>
  error instanceof pg.DatabaseError && !ELSEWHERE.test(error.code ?? '')

const record = async (client: Client, files: readonly MigrationFile[], version: string): Promise<void> => {
  const functions = files.filter(({ kind }) => kind === 'function')
  const hashes = functions.map(({ sha256 }) => sha256)
  if (functions.length > 0) await client.query(RECORD_FUNCTIONS, [functions.map(({ name }) => name), hashes, version])
  for (const { name, kind } of files) if (kind === 'migration') await client.query(RECORD_MIGRATION, [name, version])
}

const inTransaction = async (client: Client, work: () => Promise<void>): Promise<void> => {
  await client.query('begin')
  try {
    await work()
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/**
 * Each migration is a transaction of its own, so that a value added to an enum is usable by the next one; the functions
 * that it needs are in the same one. All other functions change in one transaction, so that no request calls the new text
 * of one and the old text of another.
 */
const applyAll = async (
  client: Client,
  pending: readonly MigrationFile[],
  progress: Progress & { version: string },
): Promise<void> => {
  let batch: MigrationFile[] = []
  const applyBatch = (): Promise<void> =>
    inTransaction(client, async () => {
      for (const file of batch) await apply(client, file, progress)
      await record(client, batch, progress.version)
    })
  for (const file of pending) {
    batch.push(file)
    if (file.kind === 'function') continue
    await applyBatch()
    batch = []
    progress.log(`migration ${file.name} applied`)
  }
  if (batch.length > 0) await applyBatch()
  const count = pending.filter(({ kind }) => kind === 'function').length
  if (count > 0) progress.log(count === 1 ? '1 function applied' : `${count} functions applied`)
}

/** A function whose file was removed is dropped by a migration; its record goes with it. */
const forgetRemoved = async (client: Client, files: readonly MigrationFile[]): Promise<void> => {
  const names = files.filter(({ kind }) => kind === 'function').map(({ name }) => name)
  await client.query(FORGET_FUNCTIONS, [names])
}

/**
 * Applies the migrations that the database does not have yet, and the functions whose text has changed, under an advisory
 * lock: several processes may start at once, one works and the others find nothing to do. The login of `databaseUrl` must
 * own the schema. Returns the names of what was applied.
 * @throws {NewerDatabaseError} on a database that is ahead of this code
 * @throws {ObsoleteDatabaseError} on a database from before the baseline
 * @throws {MigrationError} for a file that cannot be applied; the migrations before it are
 */
export const migrateUp = async (options: MigrateUpOptions): Promise<{ applied: string[] }> => {
  const { databaseUrl, version = packageVersion(), log, onBegin, isRestored = false } = options
  const files = await readMigrationFiles(options.folder)
  const client = await makeAdminConnection({ databaseUrl, applicationName: 'svc migrate' })
  try {
    await client.query(`set lock_timeout = ${lockWaitMs}`)
    await client.query(`select pg_advisory_lock(${lockKey})`)
    // Names without a schema are those of `public`, whatever the login's own search path is.
    await client.query(`set lock_timeout = ${ddlLockTimeoutMs}; set search_path = public`)
    const before = await readRecords(client)
    const pending = pendingOf(before, { files, version })
    rejectOutOfOrder(files, before)
    if (pending.length > 0) {
      await client.query(CREATE_RECORDS)
      await applyAll(client, pending, { version, log, onBegin })
      await forgetRemoved(client, files)
    }
    if (before.length + pending.length > 0) await client.query(GRANT_READING)
    if (await continueFeed(client, { files, isRestored }))
      log('new events follow all that were read before the restore')
    return { applied: pending.map(({ name }) => name) }
  } finally {
    // Ending the session releases the lock, and rolls back a transaction that a lost connection left open.
    await client.end()
  }
}

/**
 * Lists every migration and function of this code, and whether and when it was applied, in order; those that only a newer
 * version knows follow at the end. Changes nothing.
 * @throws {ObsoleteDatabaseError} on a database from before the baseline
 */
export const migrationStatus = async (options: MigrationOptions): Promise<MigrationState[]> => {
  const files = await readMigrationFiles(options.folder)
  const client = await makeAdminConnection({ databaseUrl: options.databaseUrl, applicationName: 'svc migrate' })
  try {
    const rows = byName(await readRecords(client))
    const known = files.map((file) => {
      const row = rows.get(file.name)
      rows.delete(file.name)
      return { name: file.name, state: stateOf(file, row), appliedAt: row?.applied_at ?? null }
    })
    const others = [...rows.values()].map(({ name, applied_at: at }) => ({
      name,
      state: 'applied' as const,
      appliedAt: at,
    }))
    return [...known, ...others]
  } finally {
    await client.end()
  }
}

const isForbidden = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === '42501'

/**
 * Makes sure, before a part of the service starts, that the database has the migrations and functions of this code, or
 * those of the next release, in three queries. Changes nothing, and needs no more than membership of the service's role.
 * @throws {UnmigratedDatabaseError} where some are missing, or a function has another text, or its events come from
 *   another server
 * @throws {NewerDatabaseError} where a version after the next release has migrated it
 * @throws {ObsoleteDatabaseError} on a database from before the baseline
 */
export const requireMigrated = async (options: MigrationOptions): Promise<void> => {
  const files = await readMigrationFiles(options.folder)
  const client = await makeAdminConnection({ databaseUrl: options.databaseUrl, applicationName: 'svc' })
  try {
    const applied = await readRecords(client, FIND_RECORDS_AS_READER)
    const missing = missingOf(applied, { files, version: options.version ?? packageVersion() })
    if (missing.length === 0) return await rejectRestored(client, files)
    throw new UnmigratedDatabaseError(
      missing.length === files.length
        ? 'The database has not been migrated yet.'
        : `The database is older than this version of svc: it lacks ${missing.map(({ name }) => name).join(', ')}.`,
    )
  } catch (error) {
    if (!isForbidden(error)) throw error
    throw new UnmigratedDatabaseError(
      'This login may not see which migrations the database has: the migrations grant that to members of ' +
        `${READER_ROLE}, so they have not run yet, or this login is not a member.`,
      { cause: error },
    )
  } finally {
    await client.end()
  }
}
