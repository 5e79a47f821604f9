import type { Client } from 'pg'
import type { BenchOptions } from '../support/context.ts'
import { insertMerchant, insertPayments } from '../support/database.ts'
import { printTable } from '../support/report.ts'
import type { RatioTarget } from '../support/report.ts'
import { foldAll, moveAll } from './settle.ts'

/** Smaller ones are the same whatever the number of payments. */
const SHOWN_BYTES = 20

/** Tables with their size, indexes and all, the largest first. */
export async function bytesOf(owner: Client, where: string): Promise<{ name: string; bytes: number }[]> {
  const { rows } = await owner.query<{ name: string; bytes: string }>(
    `select relname as name, pg_total_relation_size(relid) as bytes from pg_stat_user_tables where ${where} order by 2 desc`,
  )
  return rows.map(({ name, bytes }) => ({ name, bytes: Number(bytes) }))
}

/**
 * What a settled payment with its delivered webhooks takes in the database: for docs/operators/sizing.md, whose year has to
 * stay under 64 GB: 9.5 kB for each of 3.65 million payments, and 28 GB of bank records.
 */
export async function benchSize(bench: BenchOptions): Promise<RatioTarget[]> {
  const count = bench.quick ? 1_000 : 10_000
  const database = await bench.server.database('bench_size')
  const { owner } = database
  const empty = new Map((await bytesOf(owner, 'true')).map(({ name, bytes }) => [name, bytes]))
  const merchant = await insertMerchant(database, 'bench-size', 'https://shop.example/webhooks')
  const ids = await insertPayments(database, merchant, count)
  await moveAll(owner, { merchantId: merchant.id, ids, move: 'authorise' })
  await moveAll(owner, { merchantId: merchant.id, ids, move: 'settle' })
  await foldAll(owner)
  await deliverAll(owner)
  await owner.query('vacuum')
  const tables = (await bytesOf(owner, 'true')).map(({ name, bytes }) => ({
    name,
    bytes: (bytes - (empty.get(name) ?? 0)) / count,
  }))
  const all = tables.reduce((sum, { bytes }) => sum + bytes, 0)
  printTable(`A settled payment in the database, of ${count}`, [
    ['table', 'bytes per payment, with indexes'],
    ...tables.filter(({ bytes }) => bytes >= SHOWN_BYTES).map(({ name, bytes }) => [name, bytes.toFixed(0)]),
    ['all', all.toFixed(0)],
  ])
  return [{ what: 'kB of a settled payment in the database', ratio: all / 1_000, most: 9.5 }]
}

/** Each at its first attempt, as nearly all are. */
async function deliverAll(owner: Client): Promise<void> {
  await owner.query(`
    insert into webhook_attempts (merchant_id, delivery_id, attempt, worker, started_at, duration_ms, outcome, http_status, response_body)
    select merchant_id, delivery_id, 1, gen_random_uuid()::text, now(), 20, 'delivered', 200, '' from webhook_queue
  `)
  await owner.query('delete from webhook_queue')
}
