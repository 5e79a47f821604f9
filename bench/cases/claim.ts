import { randomUUID } from 'node:crypto'
import type { BenchOptions } from '../support/context.ts'
import { insertMerchant, insertPayments } from '../support/database.ts'
import type { BenchDatabase, BenchMerchant } from '../support/database.ts'
import { printTable } from '../support/report.ts'
import type { RatioTarget } from '../support/report.ts'

const MERCHANTS = 20
const DUE = 100
const CLAIMS = 100
const ROUNDS = 4
const SMALL = 10_000

/** The cost of claiming a hundred due webhooks, while the history of delivered ones grows. */
export async function benchClaim(bench: BenchOptions): Promise<RatioTarget[]> {
  const database = await bench.server.database('bench_claim')
  const merchants: BenchMerchant[] = []
  for (let n = 0; n < MERCHANTS; n += 1)
    merchants.push(await insertMerchant(database, `bench-claim-${n}`, 'http://127.0.0.1:9/'))
  for (const merchant of merchants) await insertPayments(database, merchant, Math.ceil(DUE / MERCHANTS) * 2)
  // As after the first claim: one that is rolled back would make them each time, and leave dead rows.
  await database.owner.query('insert into webhook_lanes (merchant_id) select id from merchants')
  const sizes = [SMALL, bench.quick ? 100_000 : 1_000_000, ...(bench.quick ? [] : [5_000_000])]
  const costs: { size: number; ms: number }[] = []
  let size = 0
  for (const wanted of sizes) {
    process.stderr.write(`  claims over ${wanted} delivered webhooks\n`)
    await insertDelivered(database, merchants, wanted - size)
    size = wanted
    costs.push({ size, ms: await claimMs(bench, database) })
  }
  printTable(`Claim ${DUE} due webhooks`, [
    ['delivered before', 'ms of processor time per claim'],
    ...costs.map(({ size: of, ms }) => [String(of), ms.toFixed(2)]),
  ])
  const [first, last] = [costs[0], costs.at(-1)]
  return [
    {
      what: `claim over ${last?.size} : over ${first?.size} delivered`,
      ratio: (last?.ms ?? Number.NaN) / (first?.ms ?? Number.NaN),
      most: 1.2,
    },
  ]
}

/** Delivered rows without their payments: with a million of them, the constraints would take most of the time. */
async function insertDelivered(
  { owner }: BenchDatabase,
  merchants: readonly BenchMerchant[],
  count: number,
): Promise<void> {
  await owner.query('set session_replication_role = replica')
  await owner.query(
    `insert into webhook_deliveries (id, merchant_id, event_id, event_type, payload, status, attempt_count, next_retry_at, delivered_at, last_http_status)
     select uuidv7(), ($1::uuid[])[1 + n % cardinality($1::uuid[])], 'evt_' || $3 || n, 'payment.settled', '{}', 'DELIVERED', 1, 'infinity', now(), 200
     from generate_series(1, $2::int) as n`,
    [merchants.map(({ id }) => id), count, randomUUID()],
  )
  await owner.query('set session_replication_role = origin')
  await owner.query('vacuum analyze')
}

/**
 * PostgreSQL's processor time of claims that are rolled back, so that each finds the same: how long they take depends on
 * what else runs. The least of four rounds, because other load only adds to it.
 */
async function claimMs(bench: BenchOptions, { owner }: BenchDatabase): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = (await bench.server.cpuMs()) ?? performance.now()
    for (let n = 0; n < CLAIMS; n += 1) {
      await owner.query('begin')
      const { rowCount } = await owner.query({
        name: 'claim',
        text: `select * from claim_webhooks('bench', '00000000-0000-0000-0000-000000000000', ${DUE}, 8, interval '30 seconds', '{}', '{}', '{}')`,
      })
      if (rowCount !== DUE) throw new Error(`claimed ${rowCount} instead of ${DUE}`)
      await owner.query('rollback')
    }
    times.push((((await bench.server.cpuMs()) ?? performance.now()) - before) / CLAIMS)
  }
  return Math.min(...times)
}
