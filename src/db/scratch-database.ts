import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeAdminConnection } from './connection.ts'
import { startEmbedded } from './embedded.ts'
import { READER_ROLE } from './migration-records-sql.ts'
import { MERCHANT_ROLE } from './scoped-query.ts'

/**
 * Lends an empty database to a piece of work, and drops it afterwards, however the work ends: on the named server, else on
 * a PostgreSQL of our own that is started for it and removed with it.
 * @throws {EmbeddedUnavailableError} without a server and without binaries
 */
export async function withScratchDatabase<T>(
  serverUrl: string | undefined,
  work: (databaseUrl: string) => Promise<T>,
): Promise<T> {
  if (serverUrl !== undefined) return withDatabaseOf(serverUrl, work)
  const stateDir = await mkdtemp(join(tmpdir(), 'svc-scratch-'))
  try {
    // As root the server has a user of its own, who must get to its data in here.
    await chmod(stateDir, 0o711)
    const server = await startEmbedded({ stateDir, log: () => undefined, disposable: true })
    try {
      // Roles are not in a dump, and later migrations name these.
      await run(server.url, `create role ${READER_ROLE} nologin; create role ${MERCHANT_ROLE} nologin`)
      return await withDatabaseOf(server.url, work)
    } finally {
      await server.stop()
    }
  } finally {
    await rm(stateDir, { recursive: true, force: true })
  }
}

async function withDatabaseOf<T>(serverUrl: string, work: (databaseUrl: string) => Promise<T>): Promise<T> {
  const name = `svc_scratch_${randomBytes(6).toString('hex')}`
  await run(serverUrl, `create database ${name}`)
  try {
    const url = new URL(serverUrl)
    url.pathname = `/${name}`
    return await work(url.href)
  } finally {
    await run(serverUrl, `drop database ${name} with (force)`).catch((cause: unknown) => {
      throw new Error(`could not drop the database ${name}: drop it by hand, it holds what was restored`, { cause })
    })
  }
}

async function run(databaseUrl: string, statement: string): Promise<void> {
  const client = await makeAdminConnection({ databaseUrl, applicationName: 'svc scratch' })
  await client.query(statement).finally(() => client.end())
}
