import { randomUUID } from 'node:crypto'
import type { Client } from 'pg'
import type { BenchOptions } from '../support/context.ts'
import { insertMerchant } from '../support/database.ts'
import { median } from '../support/numbers.ts'
import { printTable } from '../support/report.ts'
import type { RatioTarget } from '../support/report.ts'

const SMALL = 10_000
const DAY = 1_000
const DAYS = 20

/** The cost of closing a settlement: of one merchant with many entries, and of a day after many settled ones. */
export async function benchClose(bench: BenchOptions): Promise<RatioTarget[]> {
  const database = await bench.server.database('bench_close')
  const { owner } = database
  let merchants = 0
  const newMerchant = async (): Promise<string> => {
    merchants += 1
    return (await insertMerchant(database, `bench-close-${merchants}`, 'https://shop.example/webhooks')).id
  }
  const sizes = [SMALL, 100_000, ...(bench.quick ? [] : [1_000_000])]
  const rounds = Math.min(bench.rounds, 3)
  const bySize = new Map(sizes.map((size) => [size, [] as number[]]))
  for (let round = 0; round < rounds; round += 1) {
    for (const size of sizes) {
      process.stderr.write(`  a period of ${size} entries\n`)
      const merchant = await newMerchant()
      await insertEntries(owner, { merchant, count: size, daysAgo: 1 })
      await owner.query('vacuum analyze settlement_lines')
      bySize.get(size)?.push((await closeMs(owner, merchant)) / size)
    }
  }
  const [fresh, old] = [await newMerchant(), await newMerchant()]
  await insertEntries(owner, { merchant: old, count: sizes.at(-1) ?? SMALL, daysAgo: DAYS + 2 })
  await closeMs(owner, old)
  await owner.query('vacuum analyze settlement_lines')
  const days: Record<string, number[]> = { [fresh]: [], [old]: [] }
  for (let day = DAYS; day > 0; day -= 1) {
    for (const merchant of [fresh, old]) {
      await insertEntries(owner, { merchant, count: DAY, daysAgo: day })
      days[merchant]?.push(await closeMs(owner, merchant))
    }
  }
  const perEntry = sizes.map((size) => median(bySize.get(size) ?? []) * 1_000)
  const [few, many] = [median(days[fresh] ?? []), median(days[old] ?? [])]
  printTable('Close a settlement', [
    ['what', 'ms', 'µs per entry'],
    ...sizes.map((size, index) => {
      const us = perEntry[index] ?? Number.NaN
      return [`a period of ${size} entries`, ((us * size) / 1_000).toFixed(0), us.toFixed(1)]
    }),
    [`a day of ${DAY} entries`, few.toFixed(1), ((few * 1_000) / DAY).toFixed(1)],
    [`the same after ${sizes.at(-1)} settled entries`, many.toFixed(1), ((many * 1_000) / DAY).toFixed(1)],
  ])
  return [
    {
      what: `closing an entry, of ${sizes.at(-1)} : of ${SMALL}`,
      ratio: (perEntry.at(-1) ?? Number.NaN) / (perEntry[0] ?? Number.NaN),
      most: 1.5,
    },
    { what: `closing a day after ${sizes.at(-1)} settled entries : without`, ratio: many / few, most: 1.2 },
  ]
}

type Entries = { merchant: string; count: number; daysAgo: number }

/** Lines as the job that keeps balances leaves them, half of them fees, without the entries that they are of. */
async function insertEntries(owner: Client, { merchant, count, daysAgo }: Entries): Promise<void> {
  await owner.query(
    `insert into settlement_lines (merchant_id, ordinal, currency, movement, subject_id, amount, occurred_at)
     select $1, nextval('ledger_entries_ordinal_seq'), 'GBP', case n % 2 when 0 then 'payment_settled' else 'fee_taken' end::ledger_movement,
       gen_random_uuid(), case n % 2 when 0 then 50 else -0.7125 end, date_trunc('day', now()) - make_interval(days => $3) + n * interval '80 milliseconds'
     from generate_series(1, $2::int) n`,
    [merchant, count, daysAgo],
  )
  await owner.query(
    `insert into ledger_kept_balances as k (
       merchant_id, currency, bank, clearing, merchant_payable, held, payouts_in_transit, fees_earned, rounding, unsettled_since
     )
     select $1, 'GBP', 0, 0, 0, 0, 0, 0, 0, min(occurred_at) from settlement_lines where merchant_id = $1 and settlement_id is null
     on conflict (merchant_id, currency) do update set unsettled_since = excluded.unsettled_since`,
    [merchant],
  )
}

async function closeMs(owner: Client, merchant: string): Promise<number> {
  const id = randomUUID()
  const begun = performance.now()
  await owner.query('begin')
  for (let from: string | null = '-infinity'; from !== null;) from = await closeMore(owner, { id, merchant, from })
  await owner.query('commit')
  return performance.now() - begun
}

type Closing = { id: string; merchant: string; from: string }

/** One statement of closing, as the job sends it; null after the last one. */
async function closeMore(owner: Client, { id, merchant, from }: Closing): Promise<string | null> {
  const { rows } = await owner.query<{ is_closed: boolean; more_from: string | null }>({
    name: 'close',
    text: `select is_closed, more_from::text as more_from
           from close_settlement($1, $2, 'GBP', false, 10000, $3::timestamptz)`,
    values: [id, merchant, from],
  })
  if (rows[0]?.is_closed !== true && rows[0]?.more_from === null) throw new Error('the period was not closed')
  return rows[0]?.more_from ?? null
}
