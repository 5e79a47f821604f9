import { startChild } from '../support/child.ts'
import type { Child } from '../support/child.ts'
import { startService } from '../support/context.ts'
import type { Bench } from '../support/context.ts'
import { insertMerchant, insertPayments } from '../support/database.ts'
import type { BenchDatabase, BenchMerchant } from '../support/database.ts'
import { printResults } from '../support/report.ts'
import type { RatioTarget } from '../support/report.ts'
import { ratioOf, takeTurns } from '../support/rounds.ts'
import type { Contender } from '../support/rounds.ts'
import type { Sample } from '../support/numbers.ts'

const MERCHANTS = 50
const SERVICE = `service, ${MERCHANTS} merchants`
const GRAPHILE_TUNED = 'graphile-worker, localQueue 500, 32 at once'
const GRAPHILE = 'graphile-worker, 16 at once'
const PG_BOSS = 'pg-boss, batchSize 500, 2 workers'

/** Webhooks delivered per second from a full queue to a local receiver that responds immediately. */
export async function benchDeliver(bench: Bench): Promise<RatioTarget[]> {
  const receiver = await startChild('processes/receiver.ts', {})
  const count = bench.quick ? 5_000 : 30_000
  const database = await bench.server.database('bench_deliver')
  const urls = Array.from(
    { length: MERCHANTS },
    (_, n) => `http://127.0.0.1:${Number(receiver.ready['port'])}/merchant-${n}`,
  )
  const merchants: BenchMerchant[] = []
  for (const [n, url] of urls.entries()) merchants.push(await insertMerchant(database, `bench-deliver-${n}`, url))
  const service = serviceContender({ bench, database, receiver, merchants, count })
  const peers = bench.peers
    ? await peerContenders({ bench, receiver, urls, count, payload: await envelope(database, merchants) })
    : []
  const results = await takeTurns([service, ...peers], bench)
  await receiver.stop()
  printResults('Deliver webhooks', results)
  if (!bench.peers) return []
  return [
    { what: 'webhooks : graphile-worker tuned', ratio: ratioOf(results, SERVICE, GRAPHILE_TUNED), least: 1.3 },
    { what: 'webhooks : graphile-worker', ratio: ratioOf(results, SERVICE, GRAPHILE), least: 5 },
    { what: 'webhooks : pg-boss tuned', ratio: ratioOf(results, SERVICE, PG_BOSS), least: 1 },
  ]
}

type ServiceTurn = { bench: Bench; database: BenchDatabase; receiver: Child; merchants: BenchMerchant[]; count: number }

function serviceContender({ bench, database, receiver, merchants, count }: ServiceTurn): Contender {
  const run = async () => {
    for (const merchant of merchants) await insertPayments(database, merchant, Math.ceil(count / merchants.length))
    await database.owner.query('vacuum analyze')
    return drain({ bench, receiver, count, start: () => startService(bench, database, ['worker']) })
  }
  return { name: SERVICE, run }
}

/** An event as the service makes it: the peers send the same bytes. */
async function envelope(database: BenchDatabase, merchants: BenchMerchant[]): Promise<string> {
  const [first] = merchants
  if (first === undefined) throw new Error('there is no merchant')
  await insertPayments(database, first, 1)
  const { rows } = await database.owner.query<{ payload: string }>(
    'select payload::text as payload from webhook_deliveries',
  )
  await database.owner.query('delete from webhook_queue')
  return rows[0]?.payload ?? ''
}

type PeerTurn = { bench: Bench; receiver: Child; urls: string[]; count: number; payload: string }

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

type Drain = { bench: Bench; receiver: Child; count: number; start: () => Promise<Child> }

/** Starts a sender with a full queue and stops it when the receiver has received nearly everything. */
async function drain({ bench, receiver, count, start }: Drain): Promise<Sample> {
  await receiver.ask({ name: 'expect', count }, 'expecting')
  const counted = receiver.next('counted')
  const postgresBefore = await bench.server.cpuMs()
  const sender = await start()
  const nodeBefore = await sender.cpuUs()
  const { rate } = await counted
  const [nodeUs, postgresAfter] = await Promise.all([sender.cpuUs(), bench.server.cpuMs()])
  await sender.stop()
  const sent = count * 0.95
  const postgresUs =
    postgresBefore === undefined || postgresAfter === undefined
      ? undefined
      : ((postgresAfter - postgresBefore) * 1000) / sent
  return { rate: Number(rate), nodeUs: (nodeUs - nodeBefore) / sent, postgresUs }
}
