import { randomUUID } from 'node:crypto'
import { startChild } from '../support/child.ts'
import type { Child } from '../support/child.ts'
import { startService, withCost } from '../support/context.ts'
import type { Bench } from '../support/context.ts'
import { insertMerchant, insertPayments } from '../support/database.ts'
import type { BenchMerchant } from '../support/database.ts'
import { requestText, runLoad } from '../support/load.ts'
import { measureLimit } from '../support/pgbench.ts'
import { printResults } from '../support/report.ts'
import type { RatioTarget } from '../support/report.ts'
import { ratioOf, takeTurns } from '../support/rounds.ts'
import type { Contender } from '../support/rounds.ts'
import { createStatement } from '../support/statements.ts'

const CONNECTIONS = 64
const BODY = JSON.stringify({ amount: '50.00', currency: 'GBP', redirect_uri: 'https://shop.example/return' })

const LIMIT = 'limit: create_payments, one per call'
const BATCH_LIMIT = 'limit: create_payments, 32 per call'
const SERVICE = `service, ${CONNECTIONS} connections`
const FASTIFY = `fastify + pg, statement by statement, ${CONNECTIONS} connections`

/** Payments created per second: the service beside PostgreSQL's own limit, and beside the conventional stack. */
export async function benchCreate(bench: Bench): Promise<RatioTarget[]> {
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
  printResults('Create a payment', results)
  return [
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

function perItem<T extends { rate: number }>(sample: T, items: number): T {
  return { ...sample, rate: sample.rate * items }
}

/** Creates over HTTP, every request with a key of its own. */
function posts(bench: Bench, child: Child, { name, merchant }: { name: string; merchant: BenchMerchant }): Contender {
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
