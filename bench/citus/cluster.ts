import { spawnSync } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from 'pg'
import { RUNTIME_ROLE } from '../../src/app.ts'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { freePort } from '../../src/db/free-port.ts'
import { migrateUp } from '../../src/db/migrate.ts'
import { serverUser } from '../../src/db/postgres-files.ts'
import type { ServerUser } from '../../src/db/postgres-files.ts'
import { findServer } from '../../src/db/postmaster.ts'
import { MERCHANT_ROLE } from '../../src/db/scoped-query.ts'
import { postgresCpuMs } from '../support/database.ts'

const OWNER = 'svc_owner'

/** An installed PostgreSQL, found through its pg_config. */
type Installed = { bin: string; user: ServerUser; folder: string }
type Node = { port: number; pid: number; stop: () => void }

export type Cluster = {
  /** A new database with all migrations, on the three nodes of Citus or on the PostgreSQL without it. */
  database(name: string, kind: 'citus' | 'plain'): Promise<ClusterDatabase>
  version: string
  stop(): Promise<void>
}

export type ClusterDatabase = {
  url: string
  owner: Client
  /** Milliseconds of processor time of its servers so far: of all three nodes with Citus. */
  cpuMs(): Promise<number | undefined>
  /** Moves the records of banks, the schema `obie`, to a worker. */
  moveBanks(): Promise<void>
}

/** Starts a coordinator with two workers, and beside them the same PostgreSQL without Citus. */
export async function startCluster(pgConfig: string): Promise<Cluster> {
  const bin = askPgConfig(pgConfig, '--bindir')
  if (!existsSync(join(askPgConfig(pgConfig, '--pkglibdir'), 'citus.so')))
    throw new Error(`Citus is not installed for ${pgConfig}; README.md in the folder above says how to build it.`)
  const user = serverUser()
  const folder = await mkdtemp(join(tmpdir(), 'svc-citus-'))
  if (user !== undefined) await chown(folder, user.uid, user.gid)
  await chmod(folder, 0o755)
  const installed = { bin, user, folder }
  const nodes: Node[] = []
  const stop = async (): Promise<void> => {
    for (const node of nodes) node.stop()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    for (const name of ['coordinator', 'worker-1', 'worker-2']) nodes.push(await startNode(installed, name, true))
    nodes.push(await startNode(installed, 'plain', false))
    const [coordinator, one, two, plain] = nodes
    if (coordinator === undefined || one === undefined || two === undefined || plain === undefined)
      throw new Error('a node is missing')
    const owners: Client[] = []
    return {
      version: askPgConfig(pgConfig, '--version'),
      database: async (name, kind) => {
        const used = kind === 'plain' ? [plain] : [coordinator, one, two]
        for (const { port } of used) await createDatabase(port, name, kind === 'citus')
        const url = urlOf(used[0]?.port ?? 0, name)
        const owner = await makeAdminConnection({ databaseUrl: url })
        owners.push(owner)
        if (kind === 'citus') {
          await owner.query(`select citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`)
          for (const { port } of [one, two]) await owner.query(`select citus_add_node('127.0.0.1', ${port})`)
        }
        await migrateUp({ databaseUrl: url, log: () => undefined })
        if (kind === 'citus') await allowLogins([one, two], name)
        return { url, owner, cpuMs: () => sumOf(used), moveBanks: () => moveBanks(owner) }
      },
      stop: async () => {
        await Promise.all(owners.map((owner) => owner.end().catch(() => undefined)))
        await stop()
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

function askPgConfig(pgConfig: string, what: string): string {
  const { status, stdout } = spawnSync(pgConfig, [what], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${pgConfig} ${what} failed; --pg-config names the one of the PostgreSQL to use`)
  return stdout.trim()
}

async function startNode({ bin, user, folder }: Installed, name: string, hasCitus: boolean): Promise<Node> {
  const port = await freePort()
  const data = join(folder, name)
  await mkdir(data, { mode: 0o700 })
  if (user !== undefined) await chown(data, user.uid, user.gid)
  const run = (program: string, words: readonly string[]): void => {
    // Its output goes nowhere: a server that inherited a pipe would keep it open.
    const { status } = spawnSync(join(bin, program), words, { ...user, cwd: '/', stdio: 'ignore' })
    if (status !== 0) throw new Error(`${program} failed for ${name}; see ${data}.log`)
  }
  run('initdb', ['-D', data, '-U', OWNER, '--auth=trust', '-E', 'UTF8', '--locale=C'])
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    port: String(port),
    max_connections: '200',
    shared_buffers: '128MB',
    ...(hasCitus
      ? {
          shared_preload_libraries: 'citus',
          max_prepared_transactions: '200',
          'citus.node_conninfo': 'sslmode=prefer',
        }
      : {}),
  }
  const lines = Object.entries(settings).map(([key, value]) => `${key} = '${value}'\n`)
  await writeFile(join(data, 'postgresql.auto.conf'), lines.join(''))
  run('pg_ctl', ['-w', '-D', data, '-l', `${data}.log`, 'start'])
  const pid = findServer(data)
  if (pid === null) throw new Error(`${name} does not run`)
  return { port, pid, stop: () => run('pg_ctl', ['-w', '-D', data, '-m', 'immediate', 'stop']) }
}

async function createDatabase(port: number, name: string, hasCitus: boolean): Promise<void> {
  const admin = await makeAdminConnection({ databaseUrl: urlOf(port, 'postgres') })
  if (hasCitus) await admin.query('set citus.enable_create_database_propagation = off')
  await admin.query(`create database ${name}`)
  await admin.end()
  const inside = await makeAdminConnection({ databaseUrl: urlOf(port, name) })
  if (hasCitus) await inside.query('create extension citus')
  await inside.query(UUIDV7)
  await inside.end()
}

/** PostgreSQL has it from 18 on, and the benchmark's statements call it. */
const UUIDV7 = `
  create function uuidv7() returns uuid language sql volatile as $$
    select (lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint), 12, '0') || '7' ||
      substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid
  $$`

/** The statements of docs/operators/sizing.md. */
async function moveBanks(owner: Client): Promise<void> {
  await owner.query('set citus.enable_unsafe_triggers = on')
  await owner.query(`select citus_schema_distribute('obie')`)
}

/** Citus connects to a worker as the role that a statement runs as. On each worker, because not all hear of it otherwise. */
async function allowLogins(workers: readonly Node[], name: string): Promise<void> {
  for (const { port } of workers) {
    const admin = await makeAdminConnection({ databaseUrl: urlOf(port, name) })
    await admin.query('set citus.enable_ddl_propagation = off')
    for (const role of [RUNTIME_ROLE, MERCHANT_ROLE]) await admin.query(`alter role ${role} login`)
    await admin.end()
  }
}

const urlOf = (port: number, name: string): string => `postgres://${OWNER}@127.0.0.1:${port}/${name}`

async function sumOf(nodes: readonly Node[]): Promise<number | undefined> {
  const all = await Promise.all(nodes.map(({ pid }) => postgresCpuMs(pid)))
  return all.reduce((sum, ms) => (sum === undefined || ms === undefined ? undefined : sum + ms), 0)
}
