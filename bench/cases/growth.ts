import { randomUUID } from 'node:crypto'
import type { CommonQueryMethods, DatabasePool } from 'slonik'
import { z } from 'zod'
import { RUNTIME_ROLE } from '../../src/app.ts'
import { getInbox } from '../../src/console/get-inbox.ts'
import { getOverview } from '../../src/console/get-overview.ts'
import { listPaymentRowsOfAll } from '../../src/console/payments-sql.ts'
import { ofEveryMerchant, ofMerchant } from '../../src/db/merchant-scope.ts'
import { makePool } from '../../src/db/pool.ts'
import { sql } from '../../src/db/sql.ts'
import { findSubject } from '../../src/explain/subjects-sql.ts'
import { listBalanceRows } from '../../src/ledger/sql.ts'
import { findPaymentRow } from '../../src/payments/batches-sql.ts'
import { claimSettlements, claimUnstagedPayments } from '../../src/payments/claim-sql.ts'
import { listPaymentRows } from '../../src/payments/list-sql.ts'
import { listExpiredPayments } from '../../src/payments/sql.ts'
import { listTransactionRows } from '../../src/transactions/sql.ts'
import { listDeliveries } from '../../src/webhooks/list-sql.ts'
import { claimDeliveries } from '../../src/webhooks/sql.ts'
import { firstMerchant } from '../../src/webhooks/claim.ts'
import type { BenchOptions } from '../support/context.ts'
import { connectionCpuMs, insertMerchant, insertPayments } from '../support/database.ts'
import type { BenchDatabase } from '../support/database.ts'
import { printTable } from '../support/report.ts'
import type { RatioTarget } from '../support/report.ts'
import { createStatement } from '../support/statements.ts'

const Backend = z.object({ pid: z.int() })

const MERCHANTS = 20
/** What is new and due is the same at every size: only the history grows. */
const RECENT_OF_EACH = 50
const PAGE = 50
const SMALL = 10_000
/** Rows of one statement: more would only make its transaction longer. */
const CHUNK = 1_000_000
const CALLS = 100
const ROUNDS = 5

type Work = { what: string; work: () => Promise<unknown> }
/** A database with a history, one connection to it, and the work in it. */
type Side = { database: BenchDatabase; merchantIds: string[]; pool: DatabasePool; works: Work[] }

/**
 * The cost of reads, claims and creations over a history of settled payments that grows, each in turns with the same over
 * one that stays at ten thousand: half an hour lies between the first size and the last, and the machine is another by then.
 */
export async function benchGrowth(bench: BenchOptions): Promise<RatioTarget[]> {
  const small = await startSide(bench, 'bench_growth_small')
  const large = await startSide(bench, 'bench_growth')
  await insertHistory(small, { from: 0, to: SMALL })
  const sizes = sizesOf(bench)
  const rows = new Map<string, string[]>(large.works.map(({ what }) => [what, []]))
  let targets: RatioTarget[] = []
  let size = 0
  for (const wanted of sizes) {
    process.stderr.write(`  ${wanted} payments\n`)
    await insertHistory(large, { from: size, to: wanted })
    size = wanted
    targets = []
    for (const [index, { what }] of large.works.entries()) {
      const [few, many] = await costsOf(small, large, index)
      rows
        .get(what)
        ?.push(`${few.us.toFixed(0)}, ${many.us.toFixed(0)} µs; ${few.pages.toFixed(0)}, ${many.pages.toFixed(0)}`)
      process.stderr.write(`  ${what}: ${rows.get(what)?.at(-1) ?? ''}\n`)
      targets.push({ what: `${what}, of ${size} payments : of ${SMALL}`, ratio: many.us / few.us, most: 1.2 })
    }
  }
  await Promise.all([small.pool.end(), large.pool.end()])
  printTable('PostgreSQL, processor time and pages per call, of ten thousand payments and of more', [
    ['', ...sizes.map((each) => `10000, ${each}`)],
    ...[...rows].map(([what, each]) => [what, ...each]),
  ])
  return targets
}

async function startSide(bench: BenchOptions, name: string): Promise<Side> {
  const database = await bench.server.database(name)
  const recent = await insertRecent(database)
  const pool = await makePool({ databaseUrl: database.url, role: RUNTIME_ROLE, size: 1 })
  return { database, merchantIds: recent.merchantIds, pool, works: worksOf(pool, recent) }
}

function sizesOf({ quick, payments }: BenchOptions): number[] {
  const largest = payments ?? (quick ? 100_000 : 1_000_000)
  const sizes = [10 * SMALL]
  while ((sizes.at(-1) ?? largest) * 10 <= largest) sizes.push((sizes.at(-1) ?? largest) * 10)
  return sizes
}

type Recent = { merchantIds: string[]; paymentIds: string[]; endToEndId: string }

/** Payments of today: some wait for their payer, too long in part, some for their settlement; their webhooks are due. */
async function insertRecent(database: BenchDatabase): Promise<Recent> {
  const { owner } = database
  const merchantIds: string[] = []
  const paymentIds: string[] = []
  for (let n = 0; n < MERCHANTS; n += 1) {
    const merchant = await insertMerchant(database, `bench-growth-${n}`, 'http://127.0.0.1:9/')
    merchantIds.push(merchant.id)
    paymentIds.push(...(await insertPayments(database, merchant, RECENT_OF_EACH)))
  }
  await owner.query('set session_replication_role = replica')
  await owner.query(`
    with due as (
      update payment_intents set status = 'Authorised', settle_at = now()
      where id in (select id from payment_intents order by id limit 200) returning merchant_id, consent_id
    )
    update payment_consents c set status = 'AUTHORISED' from due d where c.merchant_id = d.merchant_id and c.id = d.consent_id`)
  await owner.query(`
    update payment_consents set expires_at = now() - interval '1 minute'
    where id in (select id from payment_consents where status = 'AWAITING_AUTHORISATION' order by id limit 200)`)
  await owner.query(`
    update webhook_deliveries set status = 'DEAD', attempt_count = 6, last_error = 'timeout', next_retry_at = 'infinity'
    where id in (select id from webhook_deliveries order by id desc limit 20)`)
  await owner.query(
    'delete from webhook_queue q using webhook_deliveries d where d.id = q.delivery_id and d.status = $1',
    ['DEAD'],
  )
  await owner.query('set session_replication_role = origin')
  // The job that keeps balances has a row for each merchant.
  await owner.query(`
    insert into ledger_kept_balances (
      merchant_id, currency, bank, clearing, merchant_payable, held, payouts_in_transit, fees_earned, rounding
    )
    select id, 'GBP', 50, -49.3, 0, 0, 0, -0.7, 0 from merchants`)
  // As after the first claim: one that is rolled back would make them each time.
  await owner.query('insert into webhook_lanes (merchant_id) select id from merchants')
  const { rows } = await owner.query<{ end_to_end_id: string }>(
    'select end_to_end_id from payment_intents where id = $1',
    [paymentIds[0]],
  )
  return { merchantIds, paymentIds, endToEndId: rows[0]?.end_to_end_id ?? '' }
}

function worksOf(pool: DatabasePool, { merchantIds, paymentIds, endToEndId }: Recent): Work[] {
  const [merchantId = ''] = merchantIds
  const [id = ''] = paymentIds
  const ofOne = (work: () => Promise<unknown>) => () => ofMerchant(merchantId, work)
  const ofAll = (work: () => Promise<unknown>) => () => ofEveryMerchant(work)
  const query = { limit: PAGE }
  const old = new Date(Date.now() - 100 * 86_400_000).toISOString()
  /** Work that is taken back, so that each call finds the same. */
  const undone = (work: (tx: CommonQueryMethods) => Promise<readonly unknown[]>, found: number) =>
    ofAll(() =>
      // The pool's own transaction would end the connection with each rollback.
      pool.connect(async (connection) => {
        await connection.query(sql.typeAlias('void')`begin`)
        const rows = await work(connection)
        if (rows.length !== found) throw new Error(`found ${rows.length} instead of ${found}`)
        await connection.query(sql.typeAlias('void')`rollback`)
      }),
    )
  return [
    { what: 'a payment with its history', work: ofAll(() => findPaymentRow(pool, { merchant_id: merchantId, id })) },
    {
      what: `a list of ${PAGE} payments`,
      work: ofOne(() => listPaymentRows(pool, { merchantId, query, afterId: undefined })),
    },
    {
      what: 'the page behind a payment',
      work: ofOne(() => listPaymentRows(pool, { merchantId, query, afterId: id })),
    },
    {
      what: 'a list from 100 days ago',
      work: ofOne(() => listPaymentRows(pool, { merchantId, query: { ...query, to: old }, afterId: undefined })),
    },
    {
      what: `${PAGE} failed payments`,
      work: ofOne(() =>
        listPaymentRows(pool, { merchantId, query: { ...query, status: 'Failed' }, afterId: undefined }),
      ),
    },
    {
      what: `${PAGE} transactions`,
      work: ofOne(() => listTransactionRows(pool, { merchantId, query, afterId: undefined })),
    },
    { what: 'balances', work: ofOne(() => listBalanceRows(pool, merchantId)) },
    { what: `a list of ${PAGE} webhooks`, work: ofOne(() => listDeliveries(pool, { merchantId }, PAGE)) },
    {
      what: `${PAGE} payments of all merchants`,
      work: ofAll(() => listPaymentRowsOfAll(pool, { merchantId: undefined, query, afterId: undefined })),
    },
    {
      what: 'search by the id of a payment',
      work: ofAll(() => findSubject(pool, { merchantId: null, uuid: id, name: null })),
    },
    {
      what: 'search by an end-to-end id',
      work: ofAll(() => findSubject(pool, { merchantId: null, uuid: null, name: endToEndId })),
    },
    {
      what: 'search by an unknown id',
      work: ofAll(() => findSubject(pool, { merchantId: null, uuid: randomUUID(), name: null })),
    },
    {
      what: "an operator's inbox",
      work: ofAll(() =>
        getInbox(
          { pool, config: { holidays: new Set<string>() } as never },
          { merchantId: undefined, can: () => true, limit: PAGE },
        ),
      ),
    },
    { what: "an operator's overview", work: ofAll(() => getOverview({ pool }, { merchantId: undefined })) },
    { what: "a merchant's overview", work: ofOne(() => getOverview({ pool }, { merchantId })) },
    {
      what: 'a claim of 100 webhooks',
      work: undone(
        (tx) =>
          claimDeliveries(tx, {
            worker: 'bench',
            after: firstMerchant,
            rowsMax: 100,
            perMerchantMax: 8,
            leaseMs: 30_000,
            held: { merchants: [], counts: [], rows: [] },
          }),
        100,
      ),
    },
    {
      what: 'a claim of 50 settlements',
      work: undone((tx) => claimSettlements(tx, { limit: 50, leaseSeconds: 30, exceptBanks: [] }), 50),
    },
    {
      what: 'a claim of unstaged payments',
      work: undone((tx) => claimUnstagedPayments(tx, { limit: 50, olderThanSeconds: 0, leaseSeconds: 30 }), 0),
    },
    { what: '200 expired payments', work: undone((tx) => listExpiredPayments(tx, 200), 200) },
    {
      what: '32 new payments',
      work: undone((tx) => tx.any({ ...sql.unsafe``, sql: createStatement(merchantId, 32) }), 32),
    },
  ]
}

/** Of a call, in the server's process of the connection: microseconds of processor time, and pages that were looked at. */
type Cost = { us: number; pages: number }
const nothing: Cost = { us: Number.NaN, pages: Number.NaN }

/** In turns, each by its least time, for other load only adds to it; pages by all rounds together. */
async function costsOf(small: Side, large: Side, index: number): Promise<[Cost, Cost]> {
  const sides = [small, large].map((side) => ({
    ...side,
    work: side.works[index]?.work,
    pid: 0,
    us: Infinity,
    pages: 0,
  }))
  for (const side of sides) {
    for (let call = 0; call < CALLS / 4; call += 1) await side.work?.()
    // Not the one of the start: a connection is replaced when it was idle while a history was written.
    side.pid = (await ofEveryMerchant(() => side.pool.one(sql.type(Backend)`select pg_backend_pid() as pid`))).pid
  }
  for (const side of sides) side.pages -= await pagesOf(side)
  for (let round = 0; round < ROUNDS; round += 1)
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const ms = (await connectionCpuMs(side.pid)) ?? Number.NaN
      for (let call = 0; call < CALLS; call += 1) await side.work?.()
      side.us = Math.min(side.us, ((((await connectionCpuMs(side.pid)) ?? Number.NaN) - ms) * 1_000) / CALLS)
    }
  for (const side of sides) side.pages = (side.pages + (await pagesOf(side))) / (ROUNDS * CALLS)
  const [few, many] = sides
  return [few ?? nothing, many ?? nothing]
}

const Pages = z.object({ count: z.number() })

async function pagesOf({ pool, pid }: Pick<Side, 'pool'> & { pid: number }): Promise<number> {
  await ofEveryMerchant(() => pool.query(sql.type(z.object({}))`select pg_stat_force_next_flush()`))
  const { count } = await ofEveryMerchant(() =>
    pool.one(sql.type(Pages)`
      select coalesce(sum(coalesce(hits, 0) + coalesce(reads, 0)), 0)::float8 as count from pg_stat_get_backend_io(${pid})`),
  )
  return count
}

/** Payments older than two days, spread over a year: settled, but for every fiftieth, which failed. */
async function insertHistory(
  { database: { owner }, merchantIds }: Side,
  { from, to }: { from: number; to: number },
): Promise<void> {
  await owner.query("set session_replication_role = replica; set maintenance_work_mem = '1GB'")
  // Built from all rows at once, an index takes a fraction of the time.
  await setIndexesReady(owner, false)
  for (let start = from; start < to; start += CHUNK) {
    const end = Math.min(start + CHUNK, to)
    await owner.query(
      `create temporary table planted as
       select n, uuidv7() as id, uuidv7() as consent_id, uuidv7() as delivery_id,
         ($3::uuid[])[1 + n % cardinality($3::uuid[])] as merchant_id,
         now() - interval '2 days' - random() * interval '363 days' as at
       from generate_series($1::int + 1, $2::int) n`,
      [start, end, merchantIds],
    )
    for (const statement of HISTORY) await owner.query(statement)
    await owner.query('drop table planted')
    if (to > CHUNK) process.stderr.write(`  ${end} inserted\n`)
  }
  await setIndexesReady(owner, true)
  for (const table of TABLES) await owner.query(`reindex table ${table}`)
  await owner.query('set session_replication_role = origin; reset maintenance_work_mem')
  await owner.query('vacuum analyze')
  await owner.query('checkpoint')
}

const TABLES = [
  'payment_consents',
  'payment_intents',
  'payment_events',
  'webhook_deliveries',
  'webhook_attempts',
  'ledger_entries',
  'settlement_lines',
]

/** Whether inserted rows come into the indexes of the tables. */
async function setIndexesReady(owner: BenchDatabase['owner'], ready: boolean): Promise<void> {
  await owner.query(
    'update pg_index set indisready = $2, indisvalid = $2 where indrelid = any (select unnest($1::text[])::regclass)',
    [TABLES, ready],
  )
}

/** Without the foreign keys' checks and the triggers; the checks of single rows stay. */
const HISTORY = [
  `insert into payment_consents (id, merchant_id, consent_type, status, bank_consent_reference, amount, currency, expires_at, created_at)
   select consent_id, merchant_id, 'SINGLE_IMMEDIATE', 'AUTHORISED', 'R' || consent_id, 50, 'GBP', at + interval '90 minutes', at
   from planted order by n`,
  `insert into payment_intents (id, merchant_id, consent_id, idempotency_key, request_fingerprint, fee_percentage, fee_flat, status,
     amount, gross_amount, fee_amount, net_amount, currency, end_to_end_id, bank_consent_id, bank_connector, redirect_uri,
     failure_code, failure_source, created_at, updated_at)
   select id, merchant_id, consent_id, gen_random_uuid(), '', 0.01, 0.2, case when n % 50 = 0 then 'Failed' else 'Settled' end::payment_status,
     50, 50, 0.7, 49.3, 'GBP', 'SVC' || replace(gen_random_uuid()::text, '-', ''), id, 'mock', 'https://shop.example/return',
     case when n % 50 = 0 then 'CONSENT_EXPIRED' end, case when n % 50 = 0 then 'SERVICE' end, at, at
   from planted order by n`,
  `insert into payment_events (id, merchant_id, payment_intent_id, previous_status, new_status, changed_by, raw_payload,
     raw_payload_sha256, prev_hash, event_hash, created_at)
   select uuidv7(), merchant_id, id, 'Authorised', case when n % 50 = 0 then 'Failed' else 'Settled' end::payment_status,
     'BATCH_JOB', '{}', '', '', '', at from planted order by n`,
  `insert into webhook_deliveries (id, merchant_id, payment_intent_id, event_id, event_type, payload, created_at)
   select delivery_id, merchant_id, id, 'evt_' || uuidv7(), 'payment.settled', '{}', at from planted order by n`,
  `insert into webhook_attempts (merchant_id, delivery_id, attempt, worker, started_at, duration_ms, outcome, http_status)
   select merchant_id, delivery_id, 1, 'bench', at, 20, 'delivered', 200 from planted order by n`,
  `with posted as (
     insert into ledger_entries (merchant_id, movement, subject_id, debit, credit, amount, currency, created_at, entry_hash)
     select merchant_id, e.movement::ledger_movement, id, e.debit::ledger_account, e.credit::ledger_account, e.amount, 'GBP', at, ''
     from planted
     cross join lateral (
       values ('payment_settled', 'bank', 'clearing', 50::numeric), ('fee_taken', 'clearing', 'fees_earned', 0.7)
     ) e (movement, debit, credit, amount)
     where n % 50 <> 0
     order by n
     returning *
   )
   insert into settlement_lines (merchant_id, ordinal, currency, movement, subject_id, amount, occurred_at, settlement_id)
   select merchant_id, ordinal, currency, movement, subject_id, case when credit = 'clearing' then amount else -amount end,
     created_at, md5(merchant_id::text || created_at::date)::uuid
   from posted`,
]
