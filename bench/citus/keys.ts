import type { Client } from 'pg'
import { z } from 'zod'
import { RUNTIME_ROLE } from '../../src/app.ts'
import { ofMerchant } from '../../src/db/merchant-scope.ts'
import { makePool } from '../../src/db/pool.ts'
import { sql } from '../../src/db/sql.ts'
import { listBalanceRows } from '../../src/ledger/sql.ts'
import { findPaymentsStatement } from '../../src/payments/batches-sql.ts'
import { listPaymentRows } from '../../src/payments/list-sql.ts'
import { listDeliveries } from '../../src/webhooks/list-sql.ts'
import { listAttempts } from '../../src/webhooks/log-sql.ts'
import { recordAttempts } from '../../src/webhooks/sql.ts'
import { moveAll } from '../cases/settle.ts'
import { insertMerchant } from '../support/database.ts'
import { printTable } from '../support/report.ts'
import { createStatement } from '../support/statements.ts'
import type { ClusterDatabase } from './cluster.ts'
import { CLAIM, printCompared, workOf } from './figures.ts'
import { reasonOf } from './outcomes.ts'
import { verifyOn } from './service.ts'

/** What belongs to a merchant and is written for each payment. */
const TABLES = [
  'payment_consents',
  'payment_intents',
  'payment_events',
  'payment_refunds',
  'refund_events',
  'webhook_deliveries',
  'webhook_queue',
  'webhook_lanes',
  'webhook_waiting',
  'webhook_attempts',
  'ledger_entries',
  'ledger_unfolded',
  'ledger_kept_balances',
]

/**
 * What would stop the service if the keys did not: the tables of payments without their keys that lack the merchant,
 * distributed, and the service's own statements on them. The database is thrown away: without these keys a payment could be
 * paid twice.
 */
export async function printWithoutKeys(
  database: ClusterDatabase,
  plain: ClusterDatabase,
  rounds: number,
): Promise<void> {
  const { owner } = database
  const dropped = await dropKeys(owner)
  printTable('Keys that would have to go', [['table', 'key'], ...dropped])
  await owner.query('set citus.enable_unsafe_triggers = on')
  await owner.query(`select create_reference_table('merchants')`)
  for (const table of TABLES) await owner.query(`select create_distributed_table('${table}', 'merchant_id')`)
  const insert = () => insertMerchant(database, 'bench-citus', 'https://shop.example/webhooks')
  const refused = await insert().then(() => 'runs', reasonOf)
  await owner.query('drop trigger notify_consoles on merchants')
  const merchant = await insert()
  printTable('The statements of the service, without these keys', [
    ['statement', 'result'],
    ['a new merchant, which tells the consoles', refused],
    ...(await answersOf(database, merchant.id)),
    ['svc verify', await verifyOn(database)],
  ])
  await printClaims(plain, database, rounds)
}

/** The shape that a claim would have: a statement for each merchant that has due webhooks, on the node that has them. */
async function printClaims(plain: ClusterDatabase, sharded: ClusterDatabase, rounds: number): Promise<void> {
  const works = []
  for (const database of [plain, sharded]) {
    const { owner } = database
    // The queue alone, without the webhooks.
    if (database === plain)
      await owner.query('alter table webhook_queue drop constraint webhook_queue_merchant_id_delivery_id_fkey')
    const { rows } = await owner.query<{ id: string }>('select gen_random_uuid() as id from generate_series(1, 20)')
    const ids = rows.map(({ id }) => id)
    await owner.query(
      `insert into webhook_queue (merchant_id, delivery_id, sequence, due_at)
       select of, gen_random_uuid(), 1, now() from unnest($1::uuid[]) of, generate_series(1, 100)`,
      [ids],
    )
    await owner.query('analyze webhook_queue')
    works.push(
      await workOf(database, 2_000, (nth) =>
        owner.query({ name: 'claim', text: CLAIM_OF_ONE, values: [ids[nth % 20]] }),
      ),
    )
  }
  const compared = [{ what: 'a claim of 8 webhooks of one merchant', works }]
  await printCompared('A claim per merchant', { names: ['without', 'distributed'], compared, rounds })
}

const CLAIM_OF_ONE = `select delivery_id from webhook_queue where merchant_id = $1 and due_at <= now()
  order by due_at, sequence limit 8 for update skip locked`

/** @returns the keys, each with its table */
async function dropKeys(owner: Client): Promise<string[][]> {
  const { rows } = await owner.query<{ of: string; name: string; text: string; is_reference: boolean }>(
    `select conrelid::regclass::text as of, quote_ident(conname) as name, pg_get_constraintdef(oid) as text,
       contype = 'f' as is_reference
     from pg_constraint k
     where contype = 'f' and (conrelid = any ($1::regclass[]) or confrelid = any ($1::regclass[]))
       or contype in ('p', 'u') and conrelid = any ($1::regclass[]) and not exists (
         select from pg_attribute a where a.attrelid = k.conrelid and a.attname = 'merchant_id' and a.attnum = any (k.conkey)
       )
     order by contype = 'f' desc, 1, 2`,
    [TABLES],
  )
  for (const { of, name } of rows) await owner.query(`alter table ${of} drop constraint ${name}`)
  return rows.filter((row) => !row.is_reference).map(({ of, text }) => [of, text])
}

async function answersOf({ owner, url }: ClusterDatabase, merchantId: string): Promise<string[][]> {
  const pool = await makePool({ databaseUrl: url, role: RUNTIME_ROLE, size: 1 })
  const id = '01890000-0000-7000-8000-000000000001'
  const attempt: Parameters<typeof recordAttempts>[2][number] = {
    merchant_id: merchantId,
    delivery_id: id,
    epoch: 1,
    attempt: 1,
    status: 'DELIVERED',
    outcome: 'delivered',
    http_status: 200,
    age_ms: 1,
    duration_ms: 1,
    delay_ms: null,
    response_body: '',
  }
  // One of the merchant and one of another.
  await owner.query(
    `insert into webhook_attempts (merchant_id, delivery_id, attempt, worker, started_at, duration_ms, outcome)
     select of, $2, 1, 'bench', now(), 1, 'delivered' from unnest(array[$1, gen_random_uuid()]) of`,
    [merchantId, id],
  )
  const statements: [what: string, run: () => Promise<unknown>][] = [
    ['an event, which a trigger chains', () => insertEvents(owner, merchantId)],
    ['a webhook, which a trigger queues', () => owner.query(INSERT_WEBHOOK, [merchantId])],
    ['create_payments', () => owner.query(createStatement(merchantId, 1))],
    ['move_payments', () => moveAll(owner, { merchantId, ids: [id], move: 'settle' })],
    [
      'a payment with its history',
      () => owner.query(findPaymentsStatement, [JSON.stringify([{ merchant_id: merchantId, id }])]),
    ],
    ['a list of payments', () => listPaymentRows(pool, { merchantId, query: { limit: 50 }, afterId: undefined })],
    ['claim_webhooks', () => owner.query(CLAIM)],
    ['recording attempts', () => recordAttempts(pool, 'bench', [attempt])],
    ['a list of webhooks', () => listDeliveries(pool, { merchantId }, 50)],
    ['attempts of a webhook', () => listAttempts(pool, merchantId, id, 10)],
    ["merchants whose attempts a merchant's request sees", () => ofMerchant(merchantId, () => pool.oneFirst(SEEN))],
    ['fold_ledger', () => owner.query('select fold_ledger(5000)')],
    ['balances', () => listBalanceRows(pool, merchantId)],
  ]
  const rows: string[][] = []
  for (const [what, run] of statements) {
    const result = await run().then((value) => (typeof value === 'number' ? String(value) : 'runs'), reasonOf)
    rows.push([what, result])
  }
  await pool.end()
  return rows
}

/** The first event of a payment, and the second, whose trigger reads the first. */
async function insertEvents(owner: Client, merchantId: string): Promise<void> {
  const insert = `
    insert into payment_events (
      id, merchant_id, payment_intent_id, previous_status, new_status, changed_by, raw_payload,
      gross_amount, fee_amount, net_amount, currency
    )
    values (gen_random_uuid(), $1, $1, $2, $3, 'MERCHANT_API', '{}', $4, $4, $4, $5)`
  await owner.query(insert, [merchantId, null, 'AwaitingAuthorisation', 1, 'GBP'])
  await owner.query(insert, [merchantId, 'AwaitingAuthorisation', 'Authorised', null, null])
}

const INSERT_WEBHOOK = `
  insert into webhook_deliveries (id, merchant_id, event_id, event_type, payload)
  values (gen_random_uuid(), $1, 'evt_1', 'payment.initiated', '{}')`

const SEEN = sql.type(z.object({ count: z.int() }))`select count(*)::int4 as count from webhook_attempts`
