import { chmod, mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from 'pg'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { migrateUp } from '../../src/db/migrate.ts'
import { makeSealer } from '../../src/lib/seal.ts'
import { generateWebhookSecret, webhookSecretContext } from '../../src/signing/secret.ts'
import { createStatement } from './statements.ts'

export type BenchServer = {
  /** A new database with all migrations, and a connection to it as its owner, which is also the superuser. */
  database(name: string): Promise<BenchDatabase>
  /** Milliseconds of processor time that the server's processes have used, or undefined where it can't be read. */
  cpuMs(): Promise<number | undefined>
  stop(): Promise<void>
}

export type BenchDatabase = { url: string; owner: Client }

/** The master key of the merchants' secrets; the data are thrown away. */
export const encryptionKey = randomBytes(32).toString('base64')

/** Starts a PostgreSQL for the benchmark, as durable as in production, in a temporary folder. */
export async function startBenchServer(): Promise<BenchServer> {
  const stateDir = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  // PostgreSQL's own user passes through it; else root's data lie in a folder that outlives this one.
  await chmod(stateDir, 0o711)
  const server = await startEmbedded({ stateDir, log: () => undefined })
  const owners: Client[] = []
  return {
    database: async (name) => {
      const admin = await makeAdminConnection({ databaseUrl: server.url })
      await admin.query(`create database ${name}`)
      await admin.end()
      const url = new URL(server.url)
      url.pathname = `/${name}`
      await migrateUp({ databaseUrl: url.href, log: () => undefined })
      const owner = await makeAdminConnection({ databaseUrl: url.href })
      owners.push(owner)
      return { url: url.href, owner }
    },
    cpuMs: () => postgresCpuMs(server.pid),
    stop: async () => {
      await Promise.all(owners.map((owner) => owner.end()))
      await server.stop()
      await rm(stateDir, { recursive: true, force: true })
    },
  }
}

export type BenchMerchant = { id: string; clientId: string }

/** An approved merchant with the documented fees, whose webhooks go to `webhookUrl`. */
export async function insertMerchant(
  { owner }: BenchDatabase,
  name: string,
  webhookUrl: string,
): Promise<BenchMerchant> {
  const clientId = `${name}-server`
  const { rows } = await owner.query<{ id: string }>('select uuidv7() as id')
  const id = rows[0]?.id ?? ''
  const secret = makeSealer(encryptionKey).seal(generateWebhookSecret(), webhookSecretContext(id))
  await owner.query(
    `insert into merchants (
       id, client_id, legal_name, trading_name, name, kyb_status, fee_percentage, fee_flat, webhook_url, webhook_signing_secret
     )
     values ($1, $2, $2, $2, $2, 'APPROVED', 0.01, 0.20, $3, $4)`,
    [id, clientId, webhookUrl, secret],
  )
  await owner.query(
    `insert into merchant_client (client_id, merchant_id, kind, role, created_by) values ($1, $2, 'server', 'ADMIN', 'bench')`,
    [clientId, id],
  )
  return { id, clientId }
}

/** Payments each with its consent, event and queued webhook, made by the function that the service itself calls. */
export async function insertPayments(
  { owner }: BenchDatabase,
  merchant: BenchMerchant,
  count: number,
): Promise<string[]> {
  const ids: string[] = []
  for (let left = count; left > 0; left -= 500) {
    const { rows } = await owner.query<{ payment_id: string }>(createStatement(merchant.id, Math.min(left, 500)))
    ids.push(...rows.map((row) => row.payment_id))
  }
  return ids
}

/** One clock tick of /proc, in milliseconds: Linux has had 100 per second for decades. */
const TICK_MS = 10

/** Milliseconds of processor time that one connection's process of the server has used, or undefined where it can't be read. */
export async function connectionCpuMs(pid: number): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined
  return nanoseconds(await readFile(`/proc/${pid}/schedstat`, 'utf8')) / 1e6
}

function nanoseconds(schedstat: string | undefined): number {
  return Number(schedstat?.split(' ')[0])
}

/** Sums the processor time of the server and its children; the server itself accounts for children that have exited. */
export async function postgresCpuMs(serverPid: number): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const read = (name: string) =>
    Promise.all(pids.map((pid) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')))
  // Nanoseconds of running processes; of those that have ended there are only ticks.
  const [stats, running] = await Promise.all([read('stat'), read('schedstat')])
  let ms = 0
  for (const [index, stat] of stats.entries()) {
    // The fields after the command's name in brackets: state, parent, ..., and the times from the twelfth on.
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const own = nanoseconds(running[index]) / 1e6
    if (pids[index] === String(serverPid)) ms += own + ((fields[13] ?? 0) + (fields[14] ?? 0)) * TICK_MS
    else if (fields[1] === serverPid) ms += own
  }
  return ms
}
