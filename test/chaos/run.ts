import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type pg from 'pg'
import { readConfig } from '../../src/config/read.ts'
import { makeApp } from '../../src/app.ts'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import type { EmbeddedServer } from '../../src/db/embedded.ts'
import { freePort } from '../support/free-port.ts'
import { migrateUp } from '../../src/db/migrate.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { verifyDatabase } from '../../src/verify/verify-database.ts'
import { newKey } from '../support/keys.ts'
import { plantMerchant } from '../support/webhooks.ts'
import { runClient } from './clients.ts'
import type { Traffic } from './clients.ts'
import { judge } from './judge.ts'
import type { Fault } from './judge.ts'
import { makeLink } from './link.ts'
import { startPart } from './process.ts'
import { recovery } from './recovery.ts'
import { MANNERS, startShops } from './shops.ts'
import type { Shop } from './shops.ts'

/*
 * npm run chaos -- --seed 7 --minutes 30: the built service in processes of its own, which are killed, paused and cut off from
 * PostgreSQL while shops pay, refund and receive webhooks; PostgreSQL is killed too, and secrets and the master key are
 * replaced. Shops keep ledgers of what they were told. At the end everything must agree: the ledgers, the database
 * (svc verify), the books of the mock bank and what the shops received. A JSON report, then one line; exit code 1 if not.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now()) },
    minutes: { type: 'string', default: '1' },
    clients: { type: 'string', default: '6' },
    report: { type: 'string' },
  },
})
const runMs = Number(values.minutes) * 60_000
/** Attempts come six hundred times faster than in production: a delivery is given up after a minute, not after nine hours. */
const TIME_SCALE = '600'
const DRAIN_MAX_MS = 180_000
const random = seededRandom(values.seed)
const chance = (): number => random.below(1_000_000) / 1_000_000

/** What ends what was begun, the last first: also where the run fails, or is ended. */
const ends: (() => unknown)[] = []
async function tidyUp(): Promise<void> {
  for (const end of ends.splice(0).toReversed()) await end()
}
for (const event of ['uncaughtException', 'unhandledRejection'] as const)
  process.once(event, (error) => {
    process.stderr.write(`${String(error instanceof Error ? error.stack : error)}\n`)
    void tidyUp().finally(() => process.exit(1))
  })
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void tidyUp().finally(() => process.exit(1)))

const folder = mkdtempSync(join(tmpdir(), 'svc-chaos-'))
ends.push(() => rmSync(folder, { recursive: true, force: true }))
const database = await startEmbedded({ stateDir: folder, log: () => undefined, restarts: true })
ends.push(() => database.stop())
await migrateUp({ databaseUrl: database.url, log: () => undefined })
const link = await makeLink(database.port)
ends.push(
  () => link.close(),
  () => owner?.end(),
)
const keys = [newKey()]
const settings = {
  SVC_DATABASE_URL: database.url.replace(`:${database.port}/`, `:${link.port}/`),
  SVC_ENCRYPTION_KEY: keys[0] ?? '',
  SVC_IDENTITY: 'none',
  SVC_LOG_LEVEL: process.env['CHAOS_LOG'] ?? 'silent',
  SVC_DATABASE_POOL: '4',
  SVC_WEBHOOK_ALLOW_PRIVATE: 'true',
  SVC_WEBHOOK_TIME_SCALE: TIME_SCALE,
}
const ports = [await freePort(), await freePort()]
const addresses = ports.map((port) => `http://127.0.0.1:${port}`)

let owner: pg.Client | undefined
ends.push(() => owner?.end())
/** A connection that a restart of PostgreSQL may have ended. */
async function ask<T>(work: (client: pg.Client) => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      if (owner === undefined) {
        owner = await makeAdminConnection({ databaseUrl: database.url })
        owner.on('error', () => (owner = undefined))
      }
      return await work(owner)
    } catch (error) {
      owner = undefined
      if (tries > 100) throw error
      await delay(200)
    }
  }
}

const secret = (): string => randomBytes(32).toString('hex')
const shops: Shop[] = MANNERS.map((manner) => ({ manner, secrets: [secret()] }))
const servers = await startShops(shops, chance)
ends.push(() => servers.close())
const app = await makeApp(
  readConfig({ ...settings, SVC_DATABASE_URL: database.url, SVC_LOG_LEVEL: 'silent', SVC_DATABASE_POOL: '1' }),
)
const merchants: string[] = []
for (const [index, shop] of shops.entries()) {
  const [first = ''] = shop.secrets
  merchants.push(
    await ask((client) => plantMerchant({ owner: client, app, webhookUrl: servers.url(index), secret: first })),
  )
}
await app.close()

const isReady = (address: string): Promise<boolean> =>
  fetch(`${address}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  )
const api = addresses.map((address, index) =>
  startPart(`api ${index}`, {
    command: 'serve',
    env: { ...settings, SVC_PORT: String(ports[index]), SVC_PUBLIC_URL: addresses[0] ?? '' },
    isReady: () => isReady(address),
  }),
)
const workers = [0, 1].map((index) => startPart(`worker ${index}`, { command: 'worker', env: settings }))
const parts = [...api, ...workers]
ends.push(() => Promise.all(parts.map((part) => part.stop())))
await untilReady()

const traffic: Traffic = { entries: [], requests: 0, unanswered: {}, createdAt: [], refusedMs: [] }
/** When PostgreSQL answered again after each time that it was killed. */
const backAt: number[] = []
const faults: Fault[] = []
const begun = Date.now()
let isOver = false
const clients = Array.from({ length: Number(values.clients) }, () =>
  runClient({ addresses, merchants, random: chance, traffic, isOver: () => isOver }),
)
await makeFaults()
isOver = true
servers.heal()
await Promise.all(clients)
const drainedMs = await drain()
const violations = await check()
const verdict = await ask((client) =>
  judge(client, { entries: traffic.entries, receipts: servers.receipts, faults, merchants }),
)
const endings = Object.fromEntries(parts.map(({ name, ownEnds }) => [name, ownEnds()]))
await tidyUp()
report()

async function untilReady(): Promise<void> {
  const deadline = Date.now() + 60_000
  for (const address of addresses)
    while (!(await isReady(address))) {
      if (Date.now() > deadline) throw new Error(`${address} does not start; CHAOS_LOG=debug shows why`)
      await delay(100)
    }
}

/** Makes a fault, which lasts as long as `isOver` says, or else as its work. Nothing waits for that end. */
async function during(kind: string, work: () => Promise<unknown> | void, isOver?: () => Promise<void>): Promise<void> {
  const fault = { kind, at: Date.now(), until: Number.POSITIVE_INFINITY }
  faults.push(fault)
  await work()
  if (isOver === undefined) fault.until = Date.now()
  else void isOver().then(() => (fault.until = Date.now()))
}

async function untilBack(): Promise<void> {
  await ask((client) => client.query('select 1'))
  backAt.push(Date.now())
}

/** One fault after the other, in the order that the seed decides. */
async function makeFaults(): Promise<void> {
  let keyIsNew = false
  let killedAt = 0
  while (Date.now() - begun < runMs) {
    await delay(random.between(300, 1_500))
    const part = random.pick(parts)
    const kind = part.name.split(' ')[0] ?? ''
    const dice = random.below(100)
    if (dice < 45) await during(`kill ${kind}`, () => part.kill())
    else if (dice < 55) await during(`pause ${kind}`, () => part.pauseFor(random.between(500, 4_000)))
    else if (dice < 65) await during(`restart ${kind}`, () => part.restart())
    else if (dice < 75) await during('cut database', () => link.cut())
    else if (dice < 78) await during('silent database', () => link.silence(random.between(1_000, 4_000)))
    else if (dice < 80) await during('slow database', () => link.slow(random.between(1_000, 4_000)))
    else if (dice < 88) await during('end backends', endBackends)
    else if (dice < 93) await during('rotate secret', rotateSecret)
    // The embedded server is started again five times a minute at most.
    else if (dice < 97 && Date.now() - killedAt > 15_000) {
      killedAt = Date.now()
      await during('kill database', () => killDatabase(database), untilBack)
    } else if (!keyIsNew && Date.now() - begun > runMs / 3) {
      keyIsNew = true
      await during('rotate key', rotateKey)
    }
  }
}

function killDatabase(server: EmbeddedServer): void {
  process.kill(server.pid, 'SIGKILL')
}

async function endBackends(): Promise<void> {
  await ask((client) =>
    client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
    ),
  )
}

/** A shop gets a new secret, and knows both while the change is in progress. While its last one is, there is no other. */
async function rotateSecret(): Promise<void> {
  const index = random.below(shops.length)
  const headers = { 'content-type': 'application/json', 'x-merchant-client-id': merchants[index] ?? '' }
  const path = '/api/v1/portal/webhook-secret'
  for (let tries = 0; tries < 50; tries += 1) {
    const address = random.pick(addresses) + path
    const asked = { method: 'POST', headers, body: '{"overlap_seconds":3600}' }
    const response = await fetch(`${address}/rotate`, asked).catch(() => undefined)
    if (response?.status === 409) return
    const body: unknown = response?.status === 200 ? await response.json().catch(() => undefined) : undefined
    if (typeof body === 'object' && body !== null && 'webhook_signing_secret' in body)
      return void shops[index]?.secrets.push(String(body.webhook_signing_secret))
    await delay(200)
  }
  throw new Error('no secret could be rotated for ten seconds')
}

/** In two rolling restarts, as the documents say: every process knows the new key before anything is sealed under it. */
async function rotateKey(): Promise<void> {
  const [old = ''] = keys
  const next = newKey()
  keys.unshift(next)
  for (const env of [
    { SVC_ENCRYPTION_KEY: old, SVC_ENCRYPTION_KEY_PREVIOUS: next },
    { SVC_ENCRYPTION_KEY: next, SVC_ENCRYPTION_KEY_PREVIOUS: old },
  ])
    for (const part of parts) await part.restart(env)
}

/** Waits until nothing is under way: what was accepted is executed, and every delivery has ended. */
async function drain(): Promise<number> {
  const began = Date.now()
  for (;;) {
    const left = await ask((client) =>
      client.query<{ left: number }>(`
        select (select count(*) from payment_intents where status = 'Authorised')::int
          + (select count(*) from payment_refunds where status = 'PENDING')::int + (select count(*) from webhook_queue)::int as left`),
    )
    if (left.rows[0]?.left === 0) return Date.now() - began
    if (Date.now() - began > DRAIN_MAX_MS) return -1
    await delay(500)
  }
}

async function check(): Promise<string[]> {
  const own = await makeApp(
    readConfig({
      ...settings,
      SVC_ENCRYPTION_KEY: keys[0] ?? '',
      SVC_ENCRYPTION_KEY_PREVIOUS: keys[1] ?? '',
      SVC_DATABASE_URL: database.url,
      SVC_DATABASE_POOL: '1',
    }),
  )
  try {
    const found = await verifyDatabase(own, { signal: new AbortController().signal })
    return found.map(({ invariant, count, subjects }) => `${invariant}: ${count} (${subjects.slice(0, 3).join(', ')})`)
  } finally {
    await own.close()
  }
}

function report(): void {
  const tally = (kinds: readonly string[]): Record<string, number> =>
    Object.fromEntries([...Map.groupBy(kinds, (kind) => kind)].map(([kind, all]) => [kind, all.length]))
  const { lostAcks, wrong, lostWebhooks, phantoms, badSignatures, byteVariants, duplicates } = verdict
  const bad = [lostAcks, wrong, lostWebhooks, phantoms, byteVariants, duplicates.unexplained, violations]
  const isGood = bad.every((each) => each.length === 0) && badSignatures === 0 && drainedMs >= 0
  const acknowledged = traffic.entries.filter(({ ids }) => ids.size > 0).length
  const result = {
    seed: values.seed,
    minutes: Number(values.minutes),
    isGood,
    acknowledged,
    requests: traffic.requests,
    unanswered: traffic.unanswered,
    faults: tally(faults.map(({ kind }) => kind)),
    receipts: servers.receipts.length,
    recovery_ms: recovery({ traffic, backAt, faults, repeated: verdict.duplicates.seconds }),
    drained_ms: drainedMs,
    own_ends: endings,
    violations,
    ...verdict,
    duplicates: { explained: duplicates.explained, unexplained: duplicates.unexplained },
  }
  const text = JSON.stringify(result, null, 2)
  if (values.report !== undefined) writeFileSync(values.report, text)
  process.stdout.write(`${text}\n`)
  const count = (list: readonly unknown[]): number => list.length
  process.stdout.write(
    `chaos ${isGood ? 'ok' : 'FAILED'}: seed ${values.seed}, ${acknowledged} payments, ${count(faults)} faults, ` +
      `${count(lostAcks)} lost, ${count(wrong)} wrong, ${count(lostWebhooks)} webhooks lost, ${count(phantoms)} phantoms, ` +
      `${duplicates.explained} duplicates explained and ${count(duplicates.unexplained)} not, ${count(violations)} invariants broken\n`,
  )
  process.exit(isGood ? 0 : 1)
}
