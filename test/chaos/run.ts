import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type pg from 'pg'
import { registerAtBank } from '../../src/banks/connections/register-at-bank.ts'
import { readConfig } from '../../src/config/read.ts'
import { makeApp } from '../../src/app.ts'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { startEmbedded } from '../../src/db/embedded.ts'
import { freePort } from '../support/free-port.ts'
import { migrateUp } from '../../src/db/migrate.ts'
import { seededRandom } from '../../src/lib/seeded-random.ts'
import { verifyDatabase } from '../../src/verify/verify-database.ts'
import { newKey } from '../support/keys.ts'
import { plantMerchant } from '../support/webhooks.ts'
import { compareBooks, startBank } from './bank.ts'
import { newTraffic, runClient } from './clients.ts'
import { makeClock } from './clocks.ts'
import { makeDisk } from './disk.ts'
import { makeFaults } from './faults.ts'
import { putInRealm, startIdentity } from './identity.ts'
import { idleParts, judge } from './judge.ts'
import { makeLink } from './link.ts'
import { startPart } from './process.ts'
import { recovery } from './recovery.ts'
import { MANNERS, startShops } from './shops.ts'
import type { Shop } from './shops.ts'

/*
 * npm run chaos -- --seed 7 --minutes 30: the built service in processes of its own, which are killed, paused and cut off from
 * PostgreSQL while shops pay, refund and receive webhooks; PostgreSQL is killed too, and secrets and the master key are
 * replaced. From two minutes on there are also a model bank in a process of its own, an identity provider, clocks that jump
 * and a disk that fills up. Shops keep ledgers of what they were told. At the end everything must agree: the ledgers, the
 * database (svc verify), the books of both banks and what the shops received. A JSON report, then one line; exit code 1 if not.
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
/** The run of CI is shorter, and has what is cheapest and fails most often elsewhere. */
const hasEverything = Number(values.minutes) >= 2
/** How many clients pay at the model bank too, which writes all its books for each answer: more would wait for it alone. */
const BANK_CLIENTS_MAX = 8
/** Attempts come six hundred times faster than in production: a delivery is given up after a minute, not after nine hours. */
const TIME_SCALE = '600'
const DRAIN_MAX_MS = 180_000
/** An unknown key makes it fetch the keys, twice a minute; what it has verified is known for a minute. */
const FORGETS_MS = 180_000
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
// PostgreSQL's own user passes through it.
chmodSync(folder, 0o711)
const disk = hasEverything ? makeDisk(join(folder, 'database')) : undefined
ends.push(() => disk?.remove())
const database = await startEmbedded({
  stateDir: join(folder, 'database'),
  // It is told before it starts again: on a disk that is full it could not.
  log: () => disk?.free(),
  restarts: true,
})
ends.push(() => database.stop())
await migrateUp({ databaseUrl: database.url, log: () => undefined })
const link = await makeLink(database.port)
ends.push(
  () => link.close(),
  () => owner?.end(),
)
const keys = [newKey()]
const ports = [await freePort(), await freePort()]
const addresses = ports.map((port) => `http://127.0.0.1:${port}`)
const publicUrl = addresses[0] ?? ''
const identity = hasEverything ? await startIdentity(chance) : undefined
ends.push(() => identity?.close())
const bank = hasEverything ? await startBank(join(folder, 'bank'), { publicUrl }) : undefined
ends.push(() => bank?.part.stop())
const settings = {
  SVC_DATABASE_URL: database.url.replace(`:${database.port}/`, `:${link.port}/`),
  SVC_ENCRYPTION_KEY: keys[0] ?? '',
  SVC_IDENTITY: 'none',
  SVC_PUBLIC_URL: publicUrl,
  ...identity?.env,
  ...bank?.env,
  SVC_LOG_LEVEL: process.env['CHAOS_LOG'] ?? 'silent',
  SVC_DATABASE_POOL: '4',
  SVC_WEBHOOK_ALLOW_PRIVATE: 'true',
  SVC_WEBHOOK_TIME_SCALE: TIME_SCALE,
}

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
for (const [index, { secrets }] of shops.entries()) {
  const [first = ''] = secrets
  merchants.push(
    await ask((client) => plantMerchant({ owner: client, app, webhookUrl: servers.url(index), secret: first })),
  )
}
const realmOf = (shop: number): string => `shop-${shop}`
if (identity !== undefined)
  for (const [index, id] of merchants.entries()) {
    await ask((client) => putInRealm(client, { id, slug: realmOf(index) }))
    await identity.addRealm(realmOf(index), id)
  }
if (bank !== undefined)
  await registerAtBank(app, {
    bankId: 'model',
    replace: false,
    reason: 'chaos',
    actor: { id: 'chaos', name: 'chaos', role: 'OWNER' },
  })
await app.close()

const isReady = (address: string): Promise<boolean> =>
  fetch(`${address}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  )
const clocks = hasEverything ? [0, 1, 2, 3].map((index) => makeClock(join(folder, `clock-${index}`))) : []
const api = addresses.map((address, index) =>
  startPart(`api ${index}`, {
    words: ['serve'],
    env: { ...settings, SVC_PORT: String(ports[index]), ...clocks[index]?.env },
    isReady: () => isReady(address),
  }),
)
const workers = [0, 1].map((index) =>
  startPart(`worker ${index}`, { words: ['worker'], env: { ...settings, ...clocks[index + 2]?.env } }),
)
const parts = [...api, ...workers]
ends.push(() => Promise.all(parts.map((part) => part.stop())))
await untilReady()

const traffic = newTraffic()
const headersOf = async (shop: number): Promise<Record<string, string>> =>
  identity === undefined ? { 'x-merchant-client-id': merchants[shop] ?? '' } : identity.headersOf(realmOf(shop))
let isOver = false
const clients = Array.from({ length: Number(values.clients) }, (_, index) =>
  runClient({
    addresses,
    shops: shops.length,
    headersOf,
    forged: identity === undefined ? undefined : (shop) => identity.forged(realmOf(shop)),
    payAtBank: index < BANK_CLIENTS_MAX ? bank?.pay : undefined,
    random: chance,
    traffic,
    isOver: () => isOver,
  }),
)
const { faults, backAt, failure } = await makeFaults({
  random,
  runMs,
  parts,
  link,
  database,
  disk,
  bank,
  identity,
  clocks,
  ask,
  rotateSecret,
  rotateKey,
  realms: shops.map((_shop, index) => realmOf(index)),
})
isOver = true
servers.heal()
await bank?.heal()
await Promise.all(clients)
const drainedMs = await drain()
const violations = await check()
const verdict = await ask((client) =>
  judge(client, { entries: traffic.entries, receipts: servers.receipts, faults, merchants }),
)
verdict.wrong.push(...traffic.intrusions, ...(await stillAccepted()))
const books = await bank?.books()
const bankPayments = books?.payments.filter(({ status }) => status === 'ACSC').length ?? 0
const bankDifferences = books === undefined ? [] : await ask((client) => compareBooks(client, books))
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

/** A shop gets a new secret, and knows both while the change is in progress. While its last one is, there is no other. */
async function rotateSecret(): Promise<void> {
  const index = random.below(shops.length)
  const path = '/api/v1/portal/webhook-secret'
  for (let tries = 0; tries < 50; tries += 1) {
    const address = random.pick(addresses) + path
    const headers = { 'content-type': 'application/json', ...(await headersOf(index)) }
    const asked = { method: 'POST', headers, body: '{"overlap_seconds":3600}' }
    const response = await fetch(`${address}/rotate`, asked).catch(() => undefined)
    // Or its token is not accepted yet, after a change of the key that signs tokens.
    if (response?.status === 409 || response?.status === 401) return
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

/**
 * Waits until nothing is under way: what was accepted is executed, and every delivery has ended. A bank that was away is asked
 * again after minutes; here it is asked at once.
 */
async function drain(): Promise<number> {
  const began = Date.now()
  for (;;) {
    await ask((client) =>
      client.query(`
        update payment_intents set settle_at = now()
        where status = 'Authorised' and bank_connector = 'model' and settle_at > now() and locked_until is null`),
    )
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

/** Tokens whose key was withdrawn, and which the service accepts even when it has had the time to learn of it. */
async function stillAccepted(): Promise<string[]> {
  const accepted: string[] = []
  const deadline = Date.now() + FORGETS_MS
  for (const headers of identity?.withdrawn() ?? [])
    for (const address of addresses)
      for (;;) {
        // A genuine token of each realm makes the service fetch the new keys.
        for (let shop = 0; shop < shops.length; shop += 1)
          await fetch(`${address}/api/v1/payments`, { headers: await headersOf(shop) }).catch(() => undefined)
        const status = await fetch(`${address}/api/v1/payments`, { headers }).then(
          (response) => response.status,
          () => 0,
        )
        if (status === 401) break
        if (Date.now() > deadline) {
          accepted.push(`${address}: ${status} ${headers['authorization'] ?? ''}`)
          break
        }
        await delay(1_000)
      }
  return accepted
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
  const acknowledged = traffic.entries.filter(({ ids }) => ids.size > 0).length
  const idle = idleParts({
    payments: acknowledged,
    'payments at the model bank': bank === undefined ? undefined : bankPayments,
    'forged tokens that were rejected': identity === undefined ? undefined : traffic.forgedRejected,
  })
  const bad = [
    idle,
    lostAcks,
    wrong,
    bankDifferences,
    lostWebhooks,
    phantoms,
    byteVariants,
    duplicates.unexplained,
    violations,
  ]
  const isGood =
    bad.every((each) => each.length === 0) && badSignatures === 0 && drainedMs >= 0 && failure === undefined
  const result = {
    seed: values.seed,
    minutes: Number(values.minutes),
    isGood,
    ended_early: failure,
    acknowledged,
    requests: traffic.requests,
    unanswered: traffic.unanswered,
    faults: tally(faults.map(({ kind }) => kind)),
    without: hasEverything && disk === undefined ? ['full disk: this process may not mount one'] : [],
    bank_payments: bankPayments,
    forged_rejected: traffic.forgedRejected,
    never_happened: idle,
    bank_differences: bankDifferences,
    receipts: servers.receipts.length,
    recovery_ms: recovery({ traffic, backAt, faults, repeated: verdict.duplicates.seconds, manners: MANNERS }),
    drained_ms: drainedMs,
    own_ends: endings,
    violations,
    ...verdict,
    duplicates: { ...duplicates, seconds: undefined },
  }
  const text = JSON.stringify(result, null, 2)
  if (values.report !== undefined) writeFileSync(values.report, text)
  process.stdout.write(`${text}\n`)
  const count = (list: readonly unknown[]): number => list.length
  process.stdout.write(
    `chaos ${isGood ? 'ok' : 'FAILED'}: seed ${values.seed}, ${acknowledged} payments, ${count(faults)} faults, ` +
      `${count(lostAcks)} lost, ${count(wrong)} wrong, ${count(bankDifferences)} otherwise at the bank, ${count(lostWebhooks)} webhooks lost, ${count(phantoms)} phantoms, ` +
      `${duplicates.explained} duplicates explained and ${count(duplicates.unexplained)} not, ${count(violations)} invariants broken\n`,
  )
  process.exit(isGood ? 0 : 1)
}
