import type { DatabasePool } from 'slonik'
import { makePool } from '../../src/db/pool.ts'
import { makeConcurrencyLimits } from '../../src/lib/concurrency-limits.ts'
import { getReconciliation } from '../../src/reconciliation/get-reconciliation.ts'
import type { BenchOptions } from '../support/context.ts'
import { insertMerchant } from '../support/database.ts'
import type { BenchDatabase } from '../support/database.ts'
import { median } from '../support/numbers.ts'
import { printTable } from '../support/report.ts'
import type { RatioTarget } from '../support/report.ts'

const SMALL = 10_000
const DAY = 1_000
const READS = 20
const HOURS_MS = 3_600_000
/** Days over which the older payments are spread. */
const HISTORY_DAYS = 365

type Books = { size: number; pool: DatabasePool; merchantId: string }

/** The cost of reconciling a day of 1,000 payments of a merchant with few and with many older ones, and all of them. */
export async function benchReconcile(bench: BenchOptions): Promise<RatioTarget[]> {
  const large = bench.quick ? 100_000 : 1_000_000
  const all: Books[] = []
  for (const size of [SMALL, large]) {
    process.stderr.write(`  ${size} payments\n`)
    all.push(await insertBooks(await bench.server.database(`bench_reconcile_${size}`), size))
  }
  const ways = { 'of the merchant': true, 'of all merchants': false }
  const costs: { way: string; ms: number[] }[] = []
  for (const [way, ofOne] of Object.entries(ways)) costs.push({ way, ms: await readMs(all, ofOne) })
  const whole = await wholeMs(all)
  await Promise.all(all.map(({ pool }) => pool.end()))
  const perPayment = whole.map((ms, index) => (ms * 1_000) / ((all[index]?.size ?? 0) + DAY))
  printTable(`Reconcile a day of ${DAY} payments, and everything`, [
    ['', ...all.map(({ size }) => `ms of ${size}`)],
    ...costs.map(({ way, ms }) => [way, ...ms.map((each) => each.toFixed(1))]),
    ['everything of the merchant', ...whole.map((each) => each.toFixed(0))],
    ['the same, µs per payment', ...perPayment.map((each) => each.toFixed(1))],
  ])
  return [
    ...costs.map(({ way, ms: [few = Number.NaN, many = Number.NaN] }) => ({
      what: `reconciling a day ${way}, of ${large} payments : of ${SMALL}`,
      ratio: many / few,
      most: 1.2,
    })),
    {
      what: `reconciling everything, per payment, of ${large} : of ${SMALL}`,
      ratio: (perPayment[1] ?? Number.NaN) / (perPayment[0] ?? Number.NaN),
      most: 2,
    },
  ]
}

const comparisons = makeConcurrencyLimits('comparisons at once')

/** Without a time: each once, as the longer one takes about a minute. */
async function wholeMs(all: readonly Books[]): Promise<number[]> {
  const times: number[] = []
  for (const { pool, merchantId, size } of all) {
    const begun = performance.now()
    const { totals, differences } = await getReconciliation({ pool, comparisons }, { merchantId })
    times.push(performance.now() - begun)
    if (totals[0]?.settled_amount !== `${(size + DAY) * 50}.00` || differences.length > 0)
      throw new Error(`not the books that were inserted: ${JSON.stringify({ totals, differences }).slice(0, 500)}`)
  }
  return times
}

/** The medians, read in turns. */
async function readMs(all: readonly Books[], ofOne: boolean): Promise<number[]> {
  const from = new Date(Date.now() - 24 * HOURS_MS).toISOString()
  const times: number[][] = all.map(() => [])
  for (let n = -3; n < READS; n += 1) {
    for (const [index, { pool, merchantId }] of all.entries()) {
      const begun = performance.now()
      const { totals, differences } = await getReconciliation(
        { pool, comparisons },
        { merchantId: ofOne ? merchantId : undefined, from },
      )
      if (n >= 0) times[index]?.push(performance.now() - begun)
      if (totals[0]?.settled_amount !== `${DAY * 50}.00` || differences.length > 0)
        throw new Error(`not the books that were inserted: ${JSON.stringify({ totals, differences }).slice(0, 500)}`)
    }
  }
  return times.map((each) => median(each))
}

/** Settled payments that agree with the ledger, the lines of settlements and the mock bank; every tenth is refunded in part. */
async function insertBooks(database: BenchDatabase, size: number): Promise<Books> {
  const { owner, url } = database
  const { id: merchantId } = await insertMerchant(database, `bench-reconcile`, 'https://shop.example/webhooks')
  await owner.query('set session_replication_role = replica')
  await owner.query(
    `create temporary table planted as
     select n, uuidv7() as id, uuidv7() as refund_id,
       case when n <= $1::int then now() - interval '2 days' - ($1::int - n) * (interval '1 day' * $2::int / $1::int)
         else now() - interval '23 hours' + (n - $1::int) * interval '1 minute' end as at
     from generate_series(1, $1::int + $3::int) n`,
    [size, HISTORY_DAYS, DAY],
  )
  for (const statement of STATEMENTS) await owner.query(statement, [merchantId])
  await owner.query('drop table planted')
  await owner.query('set session_replication_role = origin')
  await owner.query('vacuum analyze')
  return { size, pool: await makePool({ databaseUrl: url, size: 1 }), merchantId }
}

const STATEMENTS = [
  `insert into payment_intents (id, merchant_id, consent_id, idempotency_key, request_fingerprint, fee_percentage, fee_flat, status,
     amount, gross_amount, fee_amount, net_amount,
     currency, end_to_end_id, bank_consent_id, bank_connector, redirect_uri, refunded_amount, created_at, updated_at)
   select id, $1, gen_random_uuid(), n::text, '', 0.01, 0.2, 'Settled', 50, 50, 0.7, 49.3, 'GBP', 'SVC' || md5(n::text), 'C' || n, 'mock', 'https://x.example',
     case when n % 10 = 0 then 5 else 0 end, at, at from planted order by n`,
  `insert into payment_events (id, merchant_id, payment_intent_id, previous_status, new_status, changed_by, raw_payload,
     raw_payload_sha256, prev_hash, event_hash, created_at)
   select gen_random_uuid(), $1, id, 'Authorised', 'Settled', 'BATCH_JOB', '{}', '', '', '', at from planted order by n`,
  `insert into payment_refunds (id, merchant_id, payment_intent_id, amount, status, request_fingerprint, raw_payload, resume_at, created_at, updated_at)
   select refund_id, $1, id, 5, 'EXECUTED', '', '', at, at, at from planted where n % 10 = 0 order by n`,
  `insert into mock_bank.bank_debits (end_to_end_id, payment_id, amount, currency, bank_reference, created_at)
   select 'SVC' || md5(n::text), id, 50, 'GBP', 'R' || n, at from planted where $1::uuid is not null order by n`,
  `insert into mock_bank.bank_credits (refund_id, payment_id, end_to_end_id, amount, currency, bank_reference, created_at)
   select refund_id, id, 'SVC' || md5(n::text), 5, 'GBP', 'R' || n, at from planted where n % 10 = 0 and $1::uuid is not null order by n`,
  `insert into ledger_entries (merchant_id, movement, subject_id, debit, credit, amount, currency, created_at, entry_hash)
   select $1, e.movement::ledger_movement, e.subject, e.debit::ledger_account, e.credit::ledger_account, e.amount, 'GBP', p.at, ''
   from planted p
   cross join lateral (
     values ('payment_settled', p.id, 'bank', 'clearing', 50::numeric), ('fee_taken', p.id, 'clearing', 'fees_earned', 0.7),
       ('payment_refunded', case when n % 10 = 0 then p.refund_id end, 'clearing', 'bank', 5)
   ) e (movement, subject, debit, credit, amount)
   where e.subject is not null
   order by n`,
  `insert into settlement_lines (merchant_id, ordinal, currency, movement, subject_id, amount, occurred_at)
   select merchant_id, ordinal, currency, movement, subject_id, case when credit = 'clearing' then amount else -amount end, created_at
   from ledger_entries where merchant_id = $1 order by ordinal`,
  `insert into ledger_kept_balances (
     merchant_id, currency, bank, clearing, merchant_payable, held, payouts_in_transit, fees_earned, rounding
   )
   select merchant_id, currency, sum(bank), sum(clearing), sum(merchant_payable), sum(held), sum(payouts_in_transit),
     sum(fees_earned), sum(rounding)
   from ledger_sides where merchant_id = $1 group by merchant_id, currency`,
]
