import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'
import { z } from 'zod'
import { startService } from '../support/context.ts'
import type { BenchOptions } from '../support/context.ts'
import { insertMerchant, insertPayments } from '../support/database.ts'
import type { BenchDatabase, BenchMerchant } from '../support/database.ts'
import { percentile } from '../support/numbers.ts'
import { printTable } from '../support/report.ts'
import type { RatioTarget } from '../support/report.ts'

/** The worker is idle by then: otherwise it would find the next webhook without a wake-up. */
const IDLE_MS = 50

/** Requests to this path get no answer. */
const HANGING = '/hanging'
const MERCHANTS = 100

const Created = z.object({ payment_id: z.string() })

/** From the answer to a creation, which is after its commit, to the arrival of its webhook; one payment at a time. */
export async function benchLatency(bench: BenchOptions): Promise<RatioTarget[]> {
  const arrivals = makeArrivals()
  const receiver = createServer((req, res) => {
    const at = performance.now()
    if (req.url === HANGING) return void req.resume()
    let body = ''
    req.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
    req.once('end', () => {
      res.end()
      arrivals.of(JSON.parse(body).data.id).resolve(at)
    })
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  const address = receiver.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const origin = `http://127.0.0.1:${port}`
  const own = await startSide({ bench, origin, name: 'bench_latency', merchants: 1 })
  const waits: number[] = []
  for (let n = 0; n < (bench.quick ? 50 : 500); n += 1) waits.push(await oneWait(own, n, arrivals))
  await own.stop()
  const besideHanging = await measureBesideHanging({ bench, arrivals, origin })
  receiver.closeAllConnections()
  receiver.close()
  const [p50, p95] = [percentile(waits, 0.5), percentile(waits, 0.95)]
  printTable("From commit to the merchant's receiver", [
    ['', 'ms'],
    ['p50', p50.toFixed(1)],
    ['p95', p95.toFixed(1)],
  ])
  return [{ what: 'webhook latency p95', ratio: p95, most: 10, unit: ' ms' }, besideHanging]
}

/** An API and a worker over a database of their own. */
type Side = { database: BenchDatabase; port: number; merchants: readonly BenchMerchant[]; stop(): Promise<void> }

type SideOptions = { bench: BenchOptions; origin: string; name: string; merchants: number }

async function startSide({ bench, origin, name, merchants: count }: SideOptions): Promise<Side> {
  const database = await bench.server.database(name)
  const merchants: BenchMerchant[] = []
  for (let n = 0; n < count; n += 1) merchants.push(await insertMerchant(database, `${name}-${n}`, `${origin}/${n}`))
  const api = await startService(bench, database, ['api'])
  const worker = await startService(bench, database, ['worker'])
  const stop = async (): Promise<void> => void (await Promise.all([api.stop(), worker.stop()]))
  return { database, port: Number(api.ready['port']), merchants, stop }
}

/** How long the server's own work after inserting the backlog is waited for. */
const SETTLES_MS = 10_000

type BesideHanging = { bench: BenchOptions; arrivals: Arrivals; origin: string }

/** The same for 99 merchants in turn, with and without a hundredth whose receiver never responds to its backlog. */
async function measureBesideHanging({ bench, arrivals, origin }: BesideHanging): Promise<RatioTarget> {
  const of = { bench, origin, merchants: MERCHANTS - 1 }
  const sides = {
    without: await startSide({ ...of, name: 'bench_latency_without' }),
    with: await startSide({ ...of, name: 'bench_latency_with' }),
  }
  // The same on both sides, but that one sends it: what a database has in its tables is no difference.
  for (const { database } of Object.values(sides)) {
    const hanging = await insertMerchant(database, 'bench-latency-hanging', `${origin}${HANGING}`)
    if (database === sides.without.database)
      await database.owner.query('update merchants set webhook_url = null where id = $1', [hanging.id])
    await insertPayments(database, hanging, bench.quick ? 2_000 : 100_000)
    await database.owner.query('vacuum analyze')
  }
  await sides.with.database.owner.query('checkpoint')
  await delay(SETTLES_MS)
  const waits = { with: [] as number[], without: [] as number[] }
  for (let round = 0; round < (bench.quick ? 2 : 6); round += 1)
    // Every second round in the opposite order, as elsewhere.
    for (const kind of round % 2 === 0 ? (['without', 'with'] as const) : (['with', 'without'] as const))
      for (let n = 0; n < MERCHANTS - 1; n += 1) waits[kind].push(await oneWait(sides[kind], n, arrivals))
  await Promise.all(Object.values(sides).map((side) => side.stop()))
  const rows = (['without', 'with'] as const).map((kind) => [
    `${kind} one that hangs`,
    percentile(waits[kind], 0.5).toFixed(1),
    percentile(waits[kind], 0.95).toFixed(1),
    percentile(waits[kind], 0.99).toFixed(1),
  ])
  printTable(`From commit to the receivers of ${MERCHANTS - 1} merchants, in ms`, [['', 'p50', 'p95', 'p99'], ...rows])
  return {
    what: 'webhook latency p99, one of 100 receivers hangs : none',
    ratio: percentile(waits.with, 0.99) / percentile(waits.without, 0.99),
    most: 1.5,
  }
}

type Arrivals = { of(paymentId: string): PromiseWithResolvers<number> }

/**
 * The arrival time of each payment's webhook. Either side may create the entry first, because the webhook may arrive
 * before the response is read.
 */
function makeArrivals(): Arrivals {
  const arrivals = new Map<string, PromiseWithResolvers<number>>()
  return {
    of: (paymentId) => {
      const arrival = arrivals.get(paymentId) ?? Promise.withResolvers<number>()
      arrivals.set(paymentId, arrival)
      return arrival
    },
  }
}

/** How long the webhook of a new payment takes, of the side's merchants in turn. */
async function oneWait({ port, merchants }: Side, nth: number, arrivals: Arrivals): Promise<number> {
  await delay(IDLE_MS)
  const answer = await request(`http://127.0.0.1:${port}/api/v1/payments`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-merchant-client-id': merchants[nth % merchants.length]?.clientId ?? '',
      'x-idempotency-key': randomUUID(),
    },
    body: JSON.stringify({ amount: '50.00', currency: 'GBP', redirect_uri: 'https://shop.example/return' }),
  })
  const answeredAt = performance.now()
  const { payment_id: id } = Created.parse(await answer.body.json())
  return (await arrivals.of(id).promise) - answeredAt
}
