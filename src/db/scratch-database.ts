import { randomBytes } from 'node:crypto'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { makeAdminConnection } from './connection.ts'
import { startEmbedded } from './embedded.ts'
import { CREATE_ROLES, LIST_ROLES } from './service-roles-sql.ts'

/** The named server has no roles of the service; the message has the command that creates them. */
export class RolesMissingError extends Error {
  override readonly name = 'RolesMissingError'
}

/**
 * Lends an empty database to a piece of work, and drops it afterwards, however the work ends: on the named server, else on
 * a PostgreSQL of our own that is started for it and removed with it.
 * @throws {EmbeddedUnavailableError} without a server and without binaries
 * @throws {RolesMissingError} where the named server was not prepared for a dump
 */
export async function withScratchDatabase<T>(
  serverUrl: string | undefined,
  work: (databaseUrl: string) => Promise<T>,
): Promise<T> {
  if (serverUrl !== undefined) {
    await requireRoles(serverUrl)
    return withDatabaseOf(serverUrl, work)
  }
  const stateDir = await mkdtemp(join(tmpdir(), 'svc-scratch-'))
  try {
    // As root the server has a user of its own, who must get to its data in here.
    await chmod(stateDir, 0o711)
    const server = await startEmbedded({ stateDir, log: () => undefined, disposable: true })
    try {
      await run(server.url, Object.values(CREATE_ROLES).join('; '))
      return await withDatabaseOf(server.url, work)
    } finally {
      await server.stop()
    }
  } finally {
    await rm(stateDir, { recursive: true, force: true })
  }
}

async function requireRoles(serverUrl: string): Promise<void> {
  const { rows } = await run<{ rolname: string }>(serverUrl, LIST_ROLES)
  const missing = Object.keys(CREATE_ROLES).filter((role) => !rows.some(({ rolname }) => rolname === role))
  if (missing.length === 0) return
  const create = missing.map((role) => CREATE_ROLES[role]).join('; ')
  throw new RolesMissingError(
    `The server lacks what is not in a dump: ${missing.join(', ')}. Create it there first: psql <server> -c '${create}'`,
  )
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

async function run<Row extends pg.QueryResultRow>(databaseUrl: string, statement: string) {
  const client = await makeAdminConnection({ databaseUrl, applicationName: 'svc scratch' })
  return client.query<Row>(statement).finally(() => client.end())
}
