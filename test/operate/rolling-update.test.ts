import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { join } from 'node:path'
import t from 'tap'
import { Client } from 'undici'
import { freePort } from '../support/free-port.ts'
import { migrateUp } from '../../src/db/migrate.ts'
import { packageRoot } from '../../src/lib/package-root.ts'
import { paymentBody, testService } from '../support/app.ts'
import type { TestMerchant, TestService } from '../support/app.ts'
import { ensureBuilt } from '../support/built.ts'
import { installNextRelease, isReady, nextVersion, startPart } from '../support/installed-release.ts'
import type { Part } from '../support/installed-release.ts'
import { startReceiver } from '../support/receiver.ts'
import { until } from '../support/until.ts'

/*
 * A rolling update under load: two APIs and two workers, of this release and of the next one side by side, restarted in
 * turn. By hand, with the figures of docs/operators/running.md (two to three minutes):
 *   SVC_TEST_RESTARTS=20 npx tap --timeout=600 test/operate/rolling-update.test.ts
 */
const RESTARTS = Number(process.env['SVC_TEST_RESTARTS'] ?? 2)
const CLIENTS = RESTARTS > 2 ? 64 : 8
/** A shop has something else to do between two orders. */
const ORDER_PAUSE_MS = 50
/**
 * How often a balancer asks /readyz, how many refusals in a row it believes (a busy database may be one), and how long a
 * process serves on after it has said no: longer than the balancer, which is this process, may stand still.
 */
const LOOK_MS = 100
const REFUSALS = 2
const DRAIN_SECONDS = 5

/** A place in the deployment: its ports stay, its process is replaced. */
type Place = { kind: 'serve' | 'worker'; port: number; observePort: number; isReady: boolean; part?: Part }

type Load = { requests: number; failures: string[]; connections: number; slowestMs: number; stop(): Promise<void> }

t.test('processes of two releases are replaced under load, and nothing fails, is lost or doubled', async (t) => {
  ensureBuilt('cli')
  const service = await testService(t)
  const receiver = await startReceiver(t)
  const merchant = await service.merchant({ webhookUrl: receiver.url })
  const next = installNextRelease(join(t.testdir({}), 'next'))
  const places: Place[] = []
  for (const kind of ['serve', 'serve', 'worker', 'worker'] as const)
    places.push({ kind, port: await freePort(), observePort: await freePort(), isReady: false })
  const start = async (place: Place, root: string): Promise<void> => {
    place.part = await startPart({
      root,
      words: [place.kind],
      observePort: place.observePort,
      env: env(service, place),
    })
  }
  t.teardown(() => places.forEach(({ part }) => part?.kill()))
  await Promise.all(places.map((place) => start(place, packageRoot())))
  const balancer = watchPlaces(places)
  t.teardown(() => balancer.stop())
  await until('the balancer has seen them', () => places.every((place) => place.isReady))

  const load = startLoad(places, merchant)
  await migrateUp({
    databaseUrl: service.databaseUrl,
    folder: join(next, 'migrations'),
    version: nextVersion(),
    log: () => undefined,
  })
  for (let n = 0; n < RESTARTS; n += 1) {
    // The next release everywhere, then this one again on the same database, and so on.
    const root = Math.floor(n / 2) % 2 === 0 ? next : packageRoot()
    for (const kind of ['serve', 'worker'])
      await replace(
        places.filter((place) => place.kind === kind),
        { index: n % 2, start: (place) => start(place, root) },
      )
  }
  await load.stop()
  await until('no webhook waits', async () => (await service.owner.query('select 1 from webhook_queue')).rowCount === 0)
  await Promise.all(places.map(({ part }) => part?.stop()))

  t.same(load.failures.slice(0, 5), [], 'no request fails')
  const { rows } = await service.owner.query<{ id: string }>(
    'select event_id as id from webhook_log where merchant_id = $1',
    [merchant.id],
  )
  const counts = new Map<string, number>()
  for (const { eventId } of receiver.receipts) counts.set(eventId, (counts.get(eventId) ?? 0) + 1)
  const lost = rows.filter(({ id }) => !counts.has(id)).length
  const doubled = [...counts.values()].filter((count) => count > 1).length
  t.ok(rows.length > 0)
  t.same({ lost, doubled, strange: counts.size - rows.length }, { lost: 0, doubled: 0, strange: 0 })
  t.comment(
    `${RESTARTS} restarts of API and worker each, ${CLIENTS} clients, ${load.connections} connections: ` +
      `${load.requests} requests, ${load.failures.length} failed, slowest ${Math.round(load.slowestMs)} ms; ` +
      `${rows.length} webhooks, ${lost} lost, ${doubled} doubled`,
  )
})

function env(service: TestService, { port }: Place): Record<string, string> {
  return {
    SVC_DATABASE_URL: service.databaseUrl,
    SVC_ENCRYPTION_KEY: service.app.config.encryptionKey,
    SVC_IDENTITY: 'none',
    SVC_PORT: String(port),
    SVC_DRAIN_SECONDS: String(DRAIN_SECONDS),
    SVC_DATABASE_POOL: '3',
    SVC_DATABASE_TIMEOUT_FACTOR: '4',
    SVC_WEBHOOK_ALLOW_PRIVATE: 'true',
    SVC_LOG_LEVEL: 'error',
  }
}

/** Ends one of the places of a kind, starts it again, and waits until the balancer sends it requests. */
async function replace(
  places: readonly Place[],
  { index, start }: { index: number; start: (place: Place) => Promise<void> },
): Promise<void> {
  const place = places[index]
  if (place?.part === undefined) throw new Error('there is nothing to replace')
  await place.part.stop()
  await start(place)
  await until('the balancer has seen it', () => place.isReady)
}

function watchPlaces(places: readonly Place[]): { stop(): Promise<void> } {
  let isStopped = false
  const looking = places.map(async (place) => {
    for (let refusals = 0; !isStopped;) {
      refusals = (await isReady(place.observePort)) ? 0 : refusals + 1
      if (refusals === 0) place.isReady = true
      else if (refusals >= REFUSALS) place.isReady = false
      await delay(LOOK_MS)
    }
  })
  return {
    stop: async () => {
      isStopped = true
      await Promise.all(looking)
    },
  }
}

/** Clients that keep their connections: each creates payments and reads them back, one request after another. */
function startLoad(places: readonly Place[], merchant: TestMerchant): Load {
  let isStopped = false
  const load: Load = { requests: 0, failures: [], connections: 0, slowestMs: 0, stop: async () => undefined }
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    const connections = new Map<Place, Client>()
    for (let turn = client; !isStopped; turn += 1) {
      const ready = places.filter((place) => place.kind === 'serve' && place.isReady)
      const place = ready[turn % ready.length]
      if (place === undefined) load.failures.push('no API is ready')
      else await oneOrder(connectionTo(place, connections, load), { merchant, load })
      await delay(ORDER_PAUSE_MS)
    }
    await Promise.all([...connections.values()].map((connection) => connection.close()))
  })
  load.stop = async () => {
    isStopped = true
    await Promise.all(clients)
  }
  return load
}

function connectionTo(place: Place, connections: Map<Place, Client>, load: Load): Client {
  const known = connections.get(place)
  if (known !== undefined) return known
  const made = new Client(`http://127.0.0.1:${place.port}`, { pipelining: 1 })
  made.on('connect', () => (load.connections += 1))
  connections.set(place, made)
  return made
}

async function oneOrder(client: Client, { merchant, load }: { merchant: TestMerchant; load: Load }): Promise<void> {
  const headers = { 'x-merchant-client-id': merchant.clientId, 'content-type': 'application/json' }
  const ask = async (method: 'GET' | 'POST', path: string, more: object = {}): Promise<string | undefined> => {
    load.requests += 1
    const startedAt = performance.now()
    try {
      const { statusCode, body } = await client.request({ method, path, headers, ...more })
      const text = await body.text()
      if (statusCode < 300) return text
      load.failures.push(`${method} ${path}: ${statusCode} ${text}`)
    } catch (error) {
      load.failures.push(`${method} ${path}: ${String(error)}`)
    } finally {
      load.slowestMs = Math.max(load.slowestMs, performance.now() - startedAt)
    }
    return undefined
  }
  const created = await ask('POST', '/api/v1/payments', {
    headers: { ...headers, 'x-idempotency-key': randomUUID() },
    body: JSON.stringify(paymentBody()),
  })
  if (created === undefined) return
  const { payment_id: id } = JSON.parse(created) as { payment_id: string }
  await ask('GET', `/api/v1/payments/${id}`)
}
