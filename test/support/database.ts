import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { migrateUp } from '../../src/db/migrate.ts'
import { packageRoot } from '../../src/lib/package-root.ts'
import { shortHash } from '../../src/db/postgres-files.ts'
import { clusterUrl } from './cluster.ts'

/** The part of a tap test that is needed: its clean-up. */
type Teardown = { teardown: (handler: () => Promise<void>) => unknown }

const withDatabase = (url: string, database: string): string => {
  const target = new URL(url)
  target.pathname = `/${database}`
  return target.href
}

const templateLock = '7387271932002'

// Runs on a connection of its own to the server's first database; creating one cannot be in a transaction.
const asAdmin = async (url: string, statements: readonly string[]): Promise<void> => {
  const client = await makeAdminConnection({ databaseUrl: url, applicationName: 'svc test' })
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

const migrationsHash = (): string => {
  const folder = join(packageRoot(), 'migrations')
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.sql'))
    .toSorted()
  return shortHash(files.map((file) => `${file}\0${readFileSync(join(folder, file), 'utf8')}`).join('\0'))
}

/**
 * Makes the template once for all test processes: the first one to hold the lock migrates a draft and
 * renames it, so what bears the template's name is always complete. Templates of other states of the
 * migrations folder are left to the server's end.
 */
const ensureTemplate = async (url: string): Promise<string> => {
  const template = `svc_template_${migrationsHash()}`
  const client = await makeAdminConnection({ databaseUrl: url, applicationName: 'svc test template' })
  const exists = async (): Promise<boolean> =>
    (await client.query('select 1 from pg_database where datname = $1', [template])).rowCount === 1
  try {
    if (await exists()) return template
    await client.query(`select pg_advisory_lock(${templateLock})`)
    if (await exists()) return template
    const draft = `${template}_draft`
    await client.query(`drop database if exists ${draft} with (force)`)
    await client.query(`create database ${draft}`)
    const problems: string[] = []
    await migrateUp({ databaseUrl: withDatabase(url, draft), log: (line) => problems.push(line) }).catch(
      (error: unknown) => {
        throw new Error(`The migrations fail: ${problems.join('\n')}`, { cause: error })
      },
    )
    await client.query(`alter database ${draft} rename to ${template}`)
    return template
  } finally {
    await client.end()
  }
}

const throwAway = async (t: Teardown, url: string, clause: string): Promise<{ url: string }> => {
  const name = `svc_test_${randomBytes(8).toString('hex')}`
  await asAdmin(url, [`create database ${name} ${clause}`])
  // With force: a pool that a failed test left open must not keep the database.
  t.teardown(() => asAdmin(url, [`drop database if exists ${name} with (force)`]))
  return { url: withDatabase(url, name) }
}

/** A throw-away database with all migrations applied, dropped when the test ends. About 30 ms. */
export const testDatabase = async (t: Teardown): Promise<{ url: string }> => {
  const url = await clusterUrl()
  // The files are copied as they are. What that asks of a server, two checkpoints, costs it little without fsync.
  return throwAway(t, url, `template ${await ensureTemplate(url)} strategy file_copy`)
}

/** An empty temporary database, for tests of the migrations themselves. */
export const emptyDatabase = async (t: Teardown): Promise<{ url: string }> =>
  throwAway(t, await clusterUrl(), 'template template0')
