import { randomUUID } from 'node:crypto'
import type { DatabasePool } from 'slonik'
import { listAccountTransactions } from '../../src/accounts/list-account-transactions.ts'
import { makePool } from '../../src/db/pool.ts'
import type { BenchOptions } from '../support/context.ts'
import type { BenchDatabase } from '../support/database.ts'
import { median } from '../support/numbers.ts'
import { printTable } from '../support/report.ts'
import type { RatioTarget } from '../support/report.ts'

const SMALL = 10_000
const PAGE_SIZE = 100
const READS = 200
const WARM_UP = 20
/** A transaction a minute. */
const BEGIN = Date.UTC(2020, 0, 1)
const MINUTE_MS = 60_000

type Account = { size: number; pool: DatabasePool; customerId: string; accountId: string }
type Query = Parameters<typeof listAccountTransactions>[1]['query']

/** The pages to read, as queries for an account with so many transactions. */
const PAGES: Readonly<Record<string, (size: number) => Query>> = {
  first: () => ({ page: 1, pageSize: PAGE_SIZE }),
  middle: (size) => ({ page: size / PAGE_SIZE / 2, pageSize: PAGE_SIZE }),
  last: (size) => ({ page: size / PAGE_SIZE, pageSize: PAGE_SIZE }),
  'of a day': (size) => {
    const day = new Date(BEGIN + (size / 2) * MINUTE_MS).toISOString().slice(0, 10)
    return { page: 2, pageSize: PAGE_SIZE, fromBookingDateTime: day, toBookingDateTime: day }
  },
}

/** The cost of reading a page of an account's transactions, for few and for many of them. */
export async function benchStatement(bench: BenchOptions): Promise<RatioTarget[]> {
  const large = bench.quick ? 100_000 : 1_000_000
  const accounts: Account[] = []
  for (const size of [SMALL, large]) {
    process.stderr.write(`  an account with ${size} transactions\n`)
    accounts.push(await insertAccount(await bench.server.database(`bench_statement_${size}`), size))
  }
  const costs: { page: string; ms: number[] }[] = []
  for (const [page, query] of Object.entries(PAGES)) costs.push({ page, ms: await readMs(accounts, query) })
  await Promise.all(accounts.map(({ pool }) => pool.end()))
  printTable(`Read ${PAGE_SIZE} transactions`, [
    ['page', ...accounts.map(({ size }) => `ms of ${size}`)],
    ...costs.map(({ page, ms }) => [page, ...ms.map((each) => each.toFixed(2))]),
  ])
  return costs.map(({ page, ms: [few = Number.NaN, many = Number.NaN] }) => ({
    what: `page ${page}, of ${large} transactions : of ${SMALL}`,
    ratio: many / few,
    most: 1.3,
  }))
}

/** An account with its transactions but without their transfers, which no list reads. */
async function insertAccount({ url, owner }: BenchDatabase, size: number): Promise<Account> {
  const [customerId, accountId] = [randomUUID(), randomUUID()]
  await owner.query('set session_replication_role = replica')
  await owner.query(`insert into customers (id, external_customer_id, name) values ($1, 'bench', 'Bench')`, [
    customerId,
  ])
  await owner.query(
    `insert into accounts (
       id, customer_id, currency, account_type, account_sub_type, name, sort_code_account_number, balance_minor, transaction_count
     )
     values ($1, $2, 'GBP', 'Personal', 'CurrentAccount', 'Bench', '20000055779911', $3, $3)`,
    [accountId, customerId, size],
  )
  await owner.query(
    `insert into transactions (
       account_id, number, transfer_id, amount_minor, credit_debit_indicator, booking_date_time, balance_minor, counterparty_name, reference
     )
     select $1, n, gen_random_uuid(), 1, 'Credit', $2::timestamptz + (n - 1) * interval '1 minute', n, 'Payer ' || n, 'REF ' || n
     from generate_series(1, $3::int) as n`,
    [accountId, new Date(BEGIN).toISOString(), size],
  )
  await owner.query('set session_replication_role = origin')
  await owner.query('vacuum analyze')
  return { size, pool: await makePool({ databaseUrl: url, size: 1 }), customerId, accountId }
}

/** The medians for the accounts, which are read in turns. */
async function readMs(accounts: readonly Account[], queryOf: (size: number) => Query): Promise<number[]> {
  const times: number[][] = accounts.map(() => [])
  for (let n = -WARM_UP; n < READS; n += 1) {
    for (const [index, { size, ...account }] of accounts.entries()) {
      const begun = performance.now()
      const { transactions } = await listAccountTransactions(account, { ...account, query: queryOf(size) })
      if (n >= 0) times[index]?.push(performance.now() - begun)
      if (transactions.length !== PAGE_SIZE) throw new Error(`a page of ${transactions.length} instead of ${PAGE_SIZE}`)
    }
  }
  return times.map((each) => median(each))
}
