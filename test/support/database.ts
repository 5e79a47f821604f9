import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { migrateUp } from '../../src/db/migrate.ts'
import { packageRoot } from '../../src/lib/package-root.ts'
import { shortHash } from '../../src/db/postgres-files.ts'
import { bySocket, clusterUrl } from './cluster.ts'

/** The part of a tap test that is needed: its clean-up. */
type Teardown = { teardown: (handler: () => Promise<void>) => unknown }

const withDatabase = (url: string, database: string): string => {
  const target = new URL(url)
  target.pathname = `/${database}`
  return target.href
}

const templateLock = '7387271932002'

let admin: pg.Pool | undefined

const makeAdmin = async (): Promise<pg.Pool> => {
  const pool = new pg.Pool({
    connectionString: bySocket(await clusterUrl()),
    max: 2,
    idleTimeoutMillis: 0,
    allowExitOnIdle: true,
  })
  // A lost connection makes the statement in progress reject, and is replaced for the next.
  pool.on('error', () => undefined)
  return pool
}

// Each process keeps its connections to the server's first database, which make and drop the others: a connection costs
// the server and the process several milliseconds of CPU each, and a test made four.
const asAdmin = async (statement: string): Promise<pg.QueryResult> => (admin ??= await makeAdmin()).query(statement)

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
const makeTemplate = async (): Promise<string> => {
  const url = await clusterUrl()
  const template = `svc_template_${migrationsHash()}`
  const exists = async (): Promise<boolean> =>
    (await asAdmin(`select 1 from pg_database where datname = '${template}'`)).rowCount === 1
  if (await exists()) return template
  const locked = await makeAdminConnection({ databaseUrl: url, applicationName: 'svc test template' })
  try {
    await locked.query(`select pg_advisory_lock(${templateLock})`)
    if (await exists()) return template
    const draft = `${template}_draft`
    await asAdmin(`drop database if exists ${draft} with (force)`)
    await asAdmin(`create database ${draft}`)
    const problems: string[] = []
    await migrateUp({ databaseUrl: withDatabase(url, draft), log: (line) => problems.push(line) }).catch(
      (error: unknown) => {
        throw new Error(`The migrations fail: ${problems.join('\n')}`, { cause: error })
      },
    )
    await (await makeAdminConnection({ databaseUrl: withDatabase(url, draft) })).end()
    await asAdmin(`alter database ${draft} rename to ${template}`)
    return template
  } finally {
    await locked.end()
  }
}

let template: Promise<string> | undefined

const throwAway = async (t: Teardown, clause: string): Promise<{ url: string }> => {
  const name = `svc_test_${randomBytes(8).toString('hex')}`
  await asAdmin(`create database ${name} ${clause}`)
  // With force: a pool that a failed test left open must not keep the database.
  t.teardown(async () => void (await asAdmin(`drop database if exists ${name} with (force)`)))
  return { url: withDatabase(await clusterUrl(), name) }
}

/** A throw-away database with all migrations applied, dropped when the test ends. About 30 ms. */
export const testDatabase = async (t: Teardown): Promise<{ url: string }> => {
  template ??= makeTemplate()
  // The files are copied as they are. What that asks of a server, two checkpoints, costs it little without fsync.
  return throwAway(t, `template ${await template} strategy file_copy`)
}

/** An empty temporary database, for tests of the migrations themselves. */
export const emptyDatabase = (t: Teardown): Promise<{ url: string }> => throwAway(t, 'template template0')
