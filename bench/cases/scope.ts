import { z } from 'zod'
import { RUNTIME_ROLE } from '../../src/app.ts'
import { makePgConnection } from '../../src/db/connection.ts'
import { ofEveryMerchant, ofMerchant } from '../../src/db/merchant-scope.ts'
import { makePool } from '../../src/db/pool.ts'
import { sql } from '../../src/db/sql.ts'
import { listBalanceRows } from '../../src/ledger/sql.ts'
import { findPaymentLimits } from '../../src/merchants/settings-sql.ts'
import { findPaymentsStatement } from '../../src/payments/batches-sql.ts'
import { listPaymentRows } from '../../src/payments/list-sql.ts'
import { listDeliveries } from '../../src/webhooks/list-sql.ts'
import type { BenchOptions } from '../support/context.ts'
import { connectionCpuMs, insertMerchant, insertPayments } from '../support/database.ts'
import type { BenchDatabase } from '../support/database.ts'
import { median } from '../support/numbers.ts'
import { printTable } from '../support/report.ts'
import type { RatioTarget } from '../support/report.ts'
import { createStatement } from '../support/statements.ts'

const Backend = z.object({ pid: z.int() })

const MERCHANTS = 20
const BATCH = 32
const PAGE = 50

/** Processor time of a call in microseconds: of the service's side, and of PostgreSQL. */
type Cost = { nodeUs: number; postgresUs: number }
/** Work, and the process of the server that does it: autovacuum of what was inserted is no cost of either side. */
type Side = { work: () => Promise<unknown>; pid: number }
/** The same work with row-level security and without it. */
type Pair = { what: string; calls: number; limited: Side; free: Side }

/**
 * The cost of row-level security (decision 360): reads of one merchant as its requests make them, beside the same as
 * svc_runtime; and what svc_runtime itself does, beside the same in a database whose tables have no policies.
 */
export async function benchScope(bench: BenchOptions): Promise<RatioTarget[]> {
  const [limited, free] = [
    await preparedDatabase(bench, 'bench_scope'),
    await preparedDatabase(bench, 'bench_no_scope'),
  ]
  await withoutPolicies(free.database)
  const reads = await readPairs(bench, limited)
  const batches = await batchPairs(bench, limited, free)
  const rows: string[][] = [['work', 'without: µs node/pg', 'with: µs node/pg', 'ratio of PostgreSQL']]
  const targets: RatioTarget[] = []
  for (const pair of [...reads.pairs, ...batches.pairs]) {
    process.stderr.write(`  ${pair.what}\n`)
    const { without, withIt } = await measure(bench, pair)
    const ratio = withIt.postgresUs / without.postgresUs
    rows.push([pair.what, textOf(without), textOf(withIt), ratio.toFixed(3)])
    targets.push({ what: `CPU of PostgreSQL, with row-level security : without, ${pair.what}`, ratio, most: 1.03 })
  }
  await Promise.all([reads.close(), batches.close()])
  printTable('Row-level security', rows)
  return targets
}

type Prepared = { database: BenchDatabase; merchantId: string; ids: string[] }

async function preparedDatabase(bench: BenchOptions, name: string): Promise<Prepared> {
  const database = await bench.server.database(name)
  const prepared: Prepared = { database, merchantId: '', ids: [] }
  for (let n = 0; n < MERCHANTS; n += 1) {
    const merchant = await insertMerchant(database, `bench-scope-${n}`, 'https://shop.example/webhooks')
    const ids = await insertPayments(database, merchant, bench.quick ? 200 : 1_000)
    if (n === 0) Object.assign(prepared, { merchantId: merchant.id, ids })
  }
  await database.owner.query('vacuum analyze')
  return prepared
}

async function withoutPolicies({ owner }: BenchDatabase): Promise<void> {
  await owner.query(`do $$
    declare
      kept regclass;
    begin
      for kept in select oid from pg_class where relrowsecurity loop
        execute format('alter table %s disable row level security', kept);
      end loop;
    end $$`)
}

async function readPairs(bench: BenchOptions, { database, merchantId }: Prepared) {
  const pool = await makePool({ databaseUrl: database.url, role: RUNTIME_ROLE, size: 1 })
  const calls = bench.quick ? 200 : 2_000
  const { pid } = await pool.one(sql.type(Backend)`select pg_backend_pid() as pid`)
  const works: [what: string, calls: number, work: Side['work']][] = [
    [
      `a list of ${PAGE} payments`,
      calls,
      () => listPaymentRows(pool, { merchantId, query: { limit: PAGE }, afterId: undefined }),
    ],
    [`a list of ${PAGE} webhooks`, calls, () => listDeliveries(pool, { merchantId }, PAGE)],
    ['balances', calls, () => listBalanceRows(pool, merchantId)],
    ["a merchant's limits by its key", 2 * calls, () => findPaymentLimits(pool, merchantId)],
  ]
  const pairs = works.map(([what, count, work]): Pair => ({
    what,
    calls: count,
    limited: { work: () => ofMerchant(merchantId, work), pid },
    free: { work: () => ofEveryMerchant(work), pid },
  }))
  return { pairs, close: () => pool.end() }
}

async function batchPairs(bench: BenchOptions, limited: Prepared, free: Prepared) {
  const connect = async ({ database: { url } }: Prepared) => {
    const client = await makePgConnection({ databaseUrl: url, role: RUNTIME_ROLE, onError: () => undefined })
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    return { client, pid: rows[0]?.pid ?? 0 }
  }
  const clients = [await connect(limited), await connect(free)] as const
  const calls = bench.quick ? 30 : 300
  const sides = (what: string, work: (prepared: Prepared) => { text: string; values: unknown[] }): Pair => {
    const side = ({ client, pid }: (typeof clients)[number], prepared: Prepared): Side => {
      const query = { name: what.replaceAll(' ', '_'), ...work(prepared) }
      return { work: () => client.query(query), pid }
    }
    return { what, calls, limited: side(clients[0], limited), free: side(clients[1], free) }
  }
  const pairs = [
    sides(`${BATCH} new payments`, ({ merchantId }) => ({ text: createStatement(merchantId, BATCH), values: [] })),
    sides(`${BATCH} payments with their histories`, ({ merchantId, ids }) => ({
      text: findPaymentsStatement,
      values: [JSON.stringify(ids.slice(0, BATCH).map((id) => ({ merchant_id: merchantId, id })))],
    })),
    sides('a claim of 100 webhooks', () => ({
      // Its leases end at once, so that each finds the same.
      text: `select count(*) from claim_webhooks('bench', '00000000-0000-0000-0000-000000000000', 100, 8, interval '0', '{}', '{}', '{}')`,
      values: [],
    })),
  ]
  return { pairs, close: () => Promise.all(clients.map(({ client }) => client.end())) }
}

/** Both sides in turns, each by its median. */
async function measure(bench: BenchOptions, { calls, limited, free }: Pair): Promise<{ without: Cost; withIt: Cost }> {
  const costs: Record<'limited' | 'free', Cost[]> = { limited: [], free: [] }
  const sides = [
    ['free', free],
    ['limited', limited],
  ] as const
  for (let round = 0; round <= bench.rounds; round += 1)
    for (const [name, side] of round % 2 === 0 ? sides : sides.toReversed()) {
      const cost = await costOf(calls, side)
      // The first round warms up.
      if (round > 0) costs[name].push(cost)
    }
  return { without: medianOf(costs.free), withIt: medianOf(costs.limited) }
}

async function costOf(calls: number, { work, pid }: Side): Promise<Cost> {
  const postgresBefore = (await connectionCpuMs(pid)) ?? Number.NaN
  const nodeBefore = process.cpuUsage()
  for (let call = 0; call < calls; call += 1) await work()
  const { user, system } = process.cpuUsage(nodeBefore)
  const postgresMs = ((await connectionCpuMs(pid)) ?? Number.NaN) - postgresBefore
  return { nodeUs: (user + system) / calls, postgresUs: (postgresMs * 1_000) / calls }
}

function medianOf(costs: readonly Cost[]): Cost {
  return {
    nodeUs: median(costs.map(({ nodeUs }) => nodeUs)),
    postgresUs: median(costs.map(({ postgresUs }) => postgresUs)),
  }
}

function textOf({ nodeUs, postgresUs }: Cost): string {
  return `${nodeUs.toFixed(0)}/${postgresUs.toFixed(0)}`
}
