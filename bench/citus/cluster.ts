import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
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
type Installed = { bin: string; user: ServerUser; folder: string; password: string }
type Node = { port: number; pid: number; password: string; stop: () => void }

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
  /** Moves the records of banks, the schema `obie`, to a Citus node. */
  moveBanks(): Promise<void>
}

/**
 * Starts a coordinator with two Citus nodes, and beside them the same PostgreSQL without Citus. All logins have one random
 * password.
 */
export async function startCluster(pgConfig: string): Promise<Cluster> {
  const bin = askPgConfig(pgConfig, '--bindir')
  if (!existsSync(join(askPgConfig(pgConfig, '--pkglibdir'), 'citus.so')))
    throw new Error(`Citus is not installed for ${pgConfig}; README.md in the folder above says how to build it.`)
  const user = serverUser()
  const folder = await mkdtemp(join(tmpdir(), 'svc-citus-'))
  if (user !== undefined) await chown(folder, user.uid, user.gid)
  await chmod(folder, 0o755)
  const installed = { bin, user, folder, password: randomBytes(24).toString('hex') }
  const nodes: Node[] = []
  let hasFailed = false
  /** Stops every server, also when one can't be stopped, and keeps the folder then. */
  const stop = async (): Promise<void> => {
    const failures = nodes.splice(0).flatMap((node) => failureOf(node.stop))
    hasFailed ||= failures.length > 0
    if (failures.length > 0) throw new Error(`${failures.join('\n')}\nThe folder was kept: ${folder}`)
    if (!hasFailed) await rm(folder, { recursive: true, force: true })
  }
  try {
    for (const name of ['coordinator', 'node-1', 'node-2']) nodes.push(await startNode(installed, name, true))
    nodes.push(await startNode(installed, 'plain', false))
    const [coordinator, one, two, plain] = nodes
    if (coordinator === undefined || one === undefined || two === undefined || plain === undefined)
      throw new Error('a node is missing')
    const owners: Client[] = []
    return {
      version: askPgConfig(pgConfig, '--version'),
      database: async (name, kind) => {
        const used = kind === 'plain' ? [plain] : [coordinator, one, two]
        for (const node of used) await createDatabase(node, name, kind === 'citus')
        const url = urlOf(used[0] ?? plain, name)
        const owner = await makeAdminConnection({ databaseUrl: url })
        owners.push(owner)
        if (kind === 'citus') {
          await owner.query(`select citus_set_coordinator_host('127.0.0.1', ${coordinator.port})`)
          for (const { port } of [one, two]) await owner.query(`select citus_add_node('127.0.0.1', ${port})`)
        }
        await migrateUp({ databaseUrl: url, log: () => undefined })
        if (kind === 'citus') await allowLogins({ coordinator, others: [one, two], name })
        return { url, owner, cpuMs: () => sumOf(used), moveBanks: () => moveBanks(owner) }
      },
      stop: async () => {
        await Promise.all(owners.map((owner) => owner.end().catch(() => undefined)))
        await stop()
      },
    }
  } catch (error) {
    // The folder stays, with the logs that the message is from.
    for (const node of nodes) failureOf(node.stop)
    process.stderr.write(`The logs are in ${folder}\n`)
    throw error
  }
}

function failureOf(work: () => void): string[] {
  try {
    work()
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

function askPgConfig(pgConfig: string, what: string): string {
  const { status, stdout } = spawnSync(pgConfig, [what], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${pgConfig} ${what} failed; --pg-config names the one of the PostgreSQL to use`)
  return stdout.trim()
}

async function startNode({ bin, user, folder, password }: Installed, name: string, hasCitus: boolean): Promise<Node> {
  const port = await freePort()
  const data = join(folder, name)
  const secret = `${data}.password`
  const [log, said] = [`${data}.log`, `${data}.out`]
  const run = (program: string, words: readonly string[]): void => {
    // Into a file: a server that inherited a pipe would keep it open.
    const output = openSync(said, 'a')
    const stdio = ['ignore', output, output] as const
    // A home of its own, where no client certificate of the caller is found.
    const env = { ...process.env, HOME: folder }
    const { status } = spawnSync(join(bin, program), words, { ...user, cwd: '/', env, stdio: [...stdio] })
    closeSync(output)
    if (status !== 0) throw new Error([`${program} failed for ${name}:`, ...[said, log].map(lastLines)].join('\n'))
  }
  await mkdir(data, { mode: 0o700 })
  await writeFile(secret, password, { mode: 0o600 })
  if (user !== undefined) for (const path of [data, secret]) await chown(path, user.uid, user.gid)
  run('initdb', ['-D', data, '-U', OWNER, '--auth=scram-sha-256', `--pwfile=${secret}`, '-E', 'UTF8', '--locale=C'])
  await rm(secret)
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    port: String(port),
    max_connections: '200',
    shared_buffers: '128MB',
    ...(hasCitus ? { shared_preload_libraries: 'citus', max_prepared_transactions: '200' } : {}),
  }
  const lines = Object.entries(settings).map(([key, value]) => `${key} = '${value}'\n`)
  await writeFile(join(data, 'postgresql.auto.conf'), lines.join(''))
  if (hasCitus) await writeFile(join(data, 'pg_hba.conf'), ADMITTED)
  run('pg_ctl', ['-w', '-D', data, '-l', log, 'start'])
  const pid = findServer(data)
  if (pid === null) throw new Error(`${name} does not run`)
  const stop = () => run('pg_ctl', ['-w', '-D', data, '-m', 'immediate', 'stop'])
  return { port, pid, password, stop }
}

/** The lines of docs/operators/sizing.md, with loopback as the coordinator, and the owner. */
const ADMITTED = `
hostssl all ${RUNTIME_ROLE},${MERCHANT_ROLE} 127.0.0.1/32 scram-sha-256
host all ${RUNTIME_ROLE},${MERCHANT_ROLE} all reject
host all ${OWNER} 127.0.0.1/32 scram-sha-256
`

function lastLines(path: string): string {
  if (!existsSync(path)) return ''
  return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-20).join('\n')
}

async function createDatabase(node: Node, name: string, hasCitus: boolean): Promise<void> {
  const admin = await makeAdminConnection({ databaseUrl: urlOf(node, 'postgres') })
  if (hasCitus) await admin.query('set citus.enable_create_database_propagation = off')
  await admin.query(`create database ${name}`)
  await admin.end()
  const inside = await makeAdminConnection({ databaseUrl: urlOf(node, name) })
  if (hasCitus) {
    await inside.query('create extension citus')
    await inside.query(ENTER_PASSWORD, [OWNER, `password=${node.password}`])
  }
  await inside.query(UUIDV7)
  await inside.end()
}

/** How a node's Citus signs in to every other node as a role. */
const ENTER_PASSWORD = 'insert into pg_dist_authinfo (nodeid, rolename, authinfo) values (0, $1, $2)'

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

type Logins = { coordinator: Node; others: readonly Node[]; name: string }

/** Citus signs in to a node as the role that a statement runs as. On each node, because not all hear of it otherwise. */
async function allowLogins({ coordinator, others, name }: Logins): Promise<void> {
  const roles = [RUNTIME_ROLE, MERCHANT_ROLE]
  for (const node of others) {
    const admin = await makeAdminConnection({ databaseUrl: urlOf(node, name) })
    await admin.query('set citus.enable_ddl_propagation = off')
    for (const role of roles) await admin.query(`alter role ${role} login password '${node.password}'`)
    await admin.end()
  }
  const admin = await makeAdminConnection({ databaseUrl: urlOf(coordinator, name) })
  for (const role of roles) await admin.query(ENTER_PASSWORD, [role, `password=${coordinator.password}`])
  await admin.end()
}

const urlOf = ({ port, password }: Pick<Node, 'port' | 'password'>, name: string): string =>
  `postgres://${OWNER}:${password}@127.0.0.1:${port}/${name}`

async function sumOf(nodes: readonly Node[]): Promise<number | undefined> {
  const all = await Promise.all(nodes.map(({ pid }) => postgresCpuMs(pid)))
  return all.reduce((sum, ms) => (sum === undefined || ms === undefined ? undefined : sum + ms), 0)
}
