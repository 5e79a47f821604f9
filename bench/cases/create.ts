import { randomUUID } from 'node:crypto'
import { makePgConnection } from '../../src/db/connection.ts'
import { makePaymentBatches } from '../../src/payments/batches.ts'
import { createPaymentsStatement } from '../../src/payments/batches-sql.ts'
import type { NewPaymentItem } from '../../src/payments/record.ts'
import { startChild } from '../support/child.ts'
import type { Child } from '../support/child.ts'
import { startService, withCost } from '../support/context.ts'
import type { BenchOptions } from '../support/context.ts'
import { insertMerchant, insertPayments } from '../support/database.ts'
import type { BenchDatabase, BenchMerchant } from '../support/database.ts'
import { requestText, runLoad } from '../support/load.ts'
import { median } from '../support/numbers.ts'
import { measureLimit } from '../support/pgbench.ts'
import { printResults, printTable } from '../support/report.ts'
import type { RatioTarget } from '../support/report.ts'
import { ratioOf, takeTurns } from '../support/rounds.ts'
import type { Contender } from '../support/rounds.ts'
import { createStatement, itemsStatement } from '../support/statements.ts'

const CONNECTIONS = 64
const BODY = JSON.stringify({ amount: '50.00', currency: 'GBP', redirect_uri: 'https://shop.example/return' })

const LIMIT = 'limit: create_payments, one per call'
const BATCH_LIMIT = 'limit: create_payments, 32 per call'
const SERVICE = `service, ${CONNECTIONS} connections`
const FASTIFY = `fastify + pg, statement by statement, ${CONNECTIONS} connections`

/** Payments created per second: the service beside PostgreSQL's own limit, and beside the conventional stack. */
export async function benchCreate(bench: BenchOptions): Promise<RatioTarget[]> {
  const database = await bench.server.database('bench_create')
  const merchant = await insertMerchant(database, 'bench-create', 'https://shop.example/webhooks')
  // As in production, where PostgreSQL has statistics: without any, it looks keys up by the merchant alone.
  await insertPayments(database, merchant, 2_000)
  await database.owner.query('vacuum analyze')
  const service = await startService(bench, database, ['api'])
  const fastify = bench.peers ? await startChild('peers/fastify-payments.js', { url: database.url }) : undefined
  const limit = (name: string, items: number): Contender => ({
    name,
    run: (seconds) =>
      measureLimit({ url: database.url, statement: createStatement(merchant.id, items), clients: 16 }, seconds),
  })
  const results = await takeTurns(
    [
      limit(LIMIT, 1),
      { ...limit(BATCH_LIMIT, 32), run: async (seconds) => perItem(await limit(BATCH_LIMIT, 32).run(seconds), 32) },
      posts(bench, service, { name: SERVICE, merchant }),
      ...(fastify === undefined ? [] : [posts(bench, fastify, { name: FASTIFY, merchant })]),
    ],
    bench,
  )
  await Promise.all([service.stop(), fastify?.stop()])
  const alone = await measureAlone(database, merchant, bench.quick ? 50 : 500)
  printResults('Create a payment', results)
  return [
    { what: 'a create alone, batched : not batched', ratio: alone, most: 1.1 },
    {
      what: 'create over HTTP : one create_payments per transaction',
      ratio: ratioOf(results, SERVICE, LIMIT),
      least: 1.2,
    },
    { what: 'create over HTTP : create_payments of 32', ratio: ratioOf(results, SERVICE, BATCH_LIMIT), least: 0.45 },
    ...(fastify === undefined
      ? []
      : [{ what: 'create over HTTP : fastify + pg', ratio: ratioOf(results, SERVICE, FASTIFY), least: 5 }]),
  ]
}

/** How long a payment takes that is created while no other is, by the batcher : by its statement. The middle of `times`. */
async function measureAlone({ owner, url }: BenchDatabase, merchant: BenchMerchant, times: number): Promise<number> {
  const batches = makePaymentBatches({ databaseUrl: url })
  const client = await makePgConnection({
    databaseUrl: url,
    onError: (error) => process.stderr.write(`${error.message}\n`),
  })
  const { rows } = await owner.query<{ item: NewPaymentItem }>(itemsStatement(merchant.id, 2 * times + 4))
  const ways = {
    batched: (item: NewPaymentItem) => batches.create.run(item),
    single: (item: NewPaymentItem) =>
      client.query({ name: 'create', text: createPaymentsStatement, values: [JSON.stringify([item])] }),
  }
  const took = { batched: [] as number[], single: [] as number[] }
  for (const [index, { item }] of rows.entries()) {
    const way = index % 4 === 0 || index % 4 === 3 ? 'batched' : 'single'
    const begun = performance.now()
    await ways[way](item)
    // The first ones connect.
    if (index > 3) took[way].push(performance.now() - begun)
  }
  await Promise.all([batches.create.close(), batches.move.close(), batches.find.close(), client.end()])
  printTable('A payment created alone', [
    ['', 'ms'],
    ['batched', median(took.batched).toFixed(2)],
    ['not batched', median(took.single).toFixed(2)],
  ])
  return median(took.batched) / median(took.single)
}

function perItem<T extends { rate: number }>(sample: T, items: number): T {
  return { ...sample, rate: sample.rate * items }
}

/** Creates over HTTP, every request with a key of its own. */
function posts(
  bench: BenchOptions,
  child: Child,
  { name, merchant }: { name: string; merchant: BenchMerchant },
): Contender {
  const next = () =>
    requestText(
      'POST',
      '/api/v1/payments',
      { 'x-merchant-client-id': merchant.clientId, 'x-idempotency-key': randomUUID() },
      BODY,
    )
  const run = (seconds: number) =>
    withCost(bench, child, seconds, () =>
      runLoad({ port: Number(child.ready['port']), connections: CONNECTIONS, seconds, next, status: 201 }),
    )
  return { name, run }
}
