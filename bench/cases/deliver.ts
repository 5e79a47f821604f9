import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { startChild } from '../support/child.ts'
import type { Child } from '../support/child.ts'
import { startService } from '../support/context.ts'
import type { BenchOptions } from '../support/context.ts'
import { insertMerchant, insertPayments } from '../support/database.ts'
import type { BenchDatabase, BenchMerchant } from '../support/database.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'
import { printResults } from '../support/report.ts'
import type { RatioTarget } from '../support/report.ts'
import { ratioOf, takeTurns } from '../support/rounds.ts'
import type { Contender, Results } from '../support/rounds.ts'
import { median } from '../support/numbers.ts'
import type { Sample } from '../support/numbers.ts'

const MERCHANTS = 50
const SERVICE = `service, ${MERCHANTS} merchants`
const TWO_WORKERS = `service, ${MERCHANTS} merchants, two workers`
const TWO_DATABASES = `service, ${MERCHANTS} merchants, two workers that share nothing`
const HANGING_MERCHANTS = 100
const HANGING = `service, ${HANGING_MERCHANTS} merchants, of which one hangs`
const GRAPHILE_TUNED = 'graphile-worker, localQueue 500, 32 at once'
const GRAPHILE = 'graphile-worker, 16 at once'
const PG_BOSS = 'pg-boss, batchSize 500, 2 workers'

/** Webhooks delivered per second from a full queue to a local receiver that responds immediately. */
export async function benchDeliver(bench: BenchOptions): Promise<RatioTarget[]> {
  const receiver = await startReceiver()
  const { url } = receiver
  const silent = await startSilent()
  const count = bench.quick ? 5_000 : 30_000
  const urls = Array.from({ length: MERCHANTS }, (_, n) => `${url}/merchant-${n}`)
  const service = await serviceContender({ bench, receiver, count, name: SERVICE, urls })
  const twoWorkers = await serviceContender({ bench, receiver, count, name: TWO_WORKERS, urls, workers: 2 })
  const apart = await serviceContender({ bench, receiver, count, name: TWO_DATABASES, urls, databases: 2 })
  const others = Array.from({ length: HANGING_MERCHANTS - 1 }, (_, n) => `${url}/merchant-${n}`)
  const hanging = await serviceContender({ bench, receiver, count, name: HANGING, urls: [silent.url, ...others] })
  const peers = bench.peers
    ? await peerContenders({ bench, receiver, urls, count, payload: await envelope(bench) })
    : []
  const results = await takeTurns([service, twoWorkers, apart, hanging, ...peers], bench)
  await receiver.stop()
  silent.stop()
  printResults('Deliver webhooks', results)
  const fair = {
    what: 'webhooks, one of 100 receivers hangs : none',
    ratio: ratioOf(results, HANGING, SERVICE),
    least: 0.7,
  }
  const shared = {
    what: 'processor time of a webhook, two workers : one',
    ratio: costRatioOf(results, TWO_WORKERS, SERVICE),
    most: 1,
  }
  // Two processes share the processors, whatever they work on: what is left is the price of one queue for both.
  const coordination = {
    what: 'processor time of a webhook, two workers over one queue : over a queue each',
    ratio: costRatioOf(results, TWO_WORKERS, TWO_DATABASES),
    most: 1.1,
  }
  if (!bench.peers) return [fair, shared, coordination]
  return [
    fair,
    shared,
    coordination,
    { what: 'webhooks : graphile-worker tuned', ratio: ratioOf(results, SERVICE, GRAPHILE_TUNED), least: 1.3 },
    { what: 'webhooks : graphile-worker', ratio: ratioOf(results, SERVICE, GRAPHILE), least: 5 },
    { what: 'webhooks : pg-boss tuned', ratio: ratioOf(results, SERVICE, PG_BOSS), least: 1 },
  ]
}

/** A receiver that accepts connections and never responds. */
async function startSilent(): Promise<{ url: string; stop(): void }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy()).on('close', () => sockets.delete(socket))
    socket.resume()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const stop = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return { url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/hanging`, stop }
}

type ServiceTurn = {
  bench: BenchOptions
  receiver: Receiver
  count: number
  name: string
  urls: readonly string[]
  /** Of each database. */
  workers?: number
  databases?: number
}

async function serviceContender(turn: ServiceTurn): Promise<Contender> {
  const { bench, receiver, count, name, urls, workers = 1, databases = 1 } = turn
  const sides: { database: BenchDatabase; merchants: BenchMerchant[] }[] = []
  for (let side = 1; side <= databases; side += 1) {
    const database = await bench.server.database(`bench_deliver_${urls.length}_${workers}_${databases}_${side}`)
    const merchants: BenchMerchant[] = []
    for (const [n, url] of urls.entries()) merchants.push(await insertMerchant(database, `bench-deliver-${n}`, url))
    sides.push({ database, merchants })
  }
  const run = async () => {
    for (const { database, merchants } of sides) {
      // What the turn before has left, to the receiver that hangs for example.
      await database.owner.query('delete from webhook_queue')
      const each = Math.ceil(count / databases / merchants.length)
      for (const merchant of merchants) await insertPayments(database, merchant, each)
      await database.owner.query('vacuum analyze')
    }
    const places = sides.flatMap(({ database }) => Array.from({ length: workers }, () => database))
    return drain({ bench, receiver, count, start: () => startWorkers(bench, places) })
  }
  return { name, run }
}

/** A worker for each database that is named, as one process: their processor time is added up. */
async function startWorkers(bench: BenchOptions, databases: readonly BenchDatabase[]): Promise<Child> {
  const started = databases.map((database) => startService(bench, database, ['worker']))
  const [first, ...others] = await Promise.all(started)
  if (first === undefined) throw new Error('no worker')
  const all = [first, ...others]
  return {
    ...first,
    cpuUs: async () => (await Promise.all(all.map((worker) => worker.cpuUs()))).reduce((sum, us) => sum + us, 0),
    stop: async () => void (await Promise.all(all.map((worker) => worker.stop()))),
  }
}

/** The processor time of a contender's unit of work, in its own process and in PostgreSQL, as a multiple of another's. */
function costRatioOf(results: Results, name: string, other: string): number {
  const costs = (of: string) => (results.get(of) ?? []).map(({ nodeUs = 0, postgresUs = 0 }) => nodeUs + postgresUs)
  const others = costs(other)
  return median(costs(name).map((us, round) => us / (others[round] ?? Number.NaN)))
}

/** An event as the service makes it: the peers send the same bytes. */
async function envelope(bench: BenchOptions): Promise<string> {
  const database = await bench.server.database('bench_deliver_envelope')
  await insertPayments(database, await insertMerchant(database, 'bench-deliver', 'http://127.0.0.1:9/'), 1)
  const { rows } = await database.owner.query<{ payload: string }>(
    'select payload::text as payload from webhook_deliveries',
  )
  return rows[0]?.payload ?? ''
}

type PeerTurn = { bench: BenchOptions; receiver: Receiver; urls: string[]; count: number; payload: string }

async function peerContenders({ bench, receiver, urls, count, payload }: PeerTurn): Promise<Contender[]> {
  const graphile = await bench.server.database('bench_graphile')
  const boss = await bench.server.database('bench_boss')
  const plant = { count, receivers: urls, payload }
  const contender = (
    name: string,
    program: string,
    { url, owner }: BenchDatabase,
    settings: Record<string, unknown>,
  ) => ({
    name,
    run: async () => {
      const planter = await startChild(program, { url, plant })
      await planter.stop()
      await owner.query('vacuum analyze')
      return drain({ bench, receiver, count, start: () => startChild(program, { url, ...settings }) })
    },
  })
  return [
    contender(GRAPHILE_TUNED, 'peers/graphile-worker.js', graphile, { tuned: true }),
    contender(GRAPHILE, 'peers/graphile-worker.js', graphile, { tuned: false }),
    contender(PG_BOSS, 'peers/pg-boss.js', boss, {}),
  ]
}

type Drain = { bench: BenchOptions; receiver: Receiver; count: number; start: () => Promise<Child> }

/** The rate is of what arrives between two fractions of the queue, so that start and end do not matter. */
const FROM = 0.1
const TO = 0.95
const LOOK_MS = 20

/**
 * Starts a sender with a full queue and stops it when the receiver has received nearly everything. Processor time is of
 * the same webhooks as the rate: the sender's start is not in it.
 */
async function drain({ bench, receiver, count, start }: Drain): Promise<Sample> {
  const before = await receiver.count()
  const usage = async () => {
    const [node, postgres] = await Promise.all([sender.cpuUs(), bench.server.cpuMs()])
    return { node, postgres }
  }
  const sender = await start()
  const begun = await reaches(receiver, before + count * FROM)
  const used = await usage()
  const ended = await reaches(receiver, before + count * TO)
  const { node, postgres } = await usage()
  await sender.stop()
  const sent = ended.count - begun.count
  const postgresUs =
    postgres === undefined || used.postgres === undefined ? undefined : ((postgres - used.postgres) * 1000) / sent
  return { rate: sent / ((ended.at - begun.at) / 1000), nodeUs: (node - used.node) / sent, postgresUs }
}

/** The first count that is at least `least`, and when it was read. */
async function reaches(receiver: Receiver, least: number): Promise<{ count: number; at: number }> {
  for (;;) {
    const count = await receiver.count()
    const at = performance.now()
    if (count >= least) return { count, at }
    await delay(LOOK_MS)
  }
}
