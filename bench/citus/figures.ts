import { readFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { RUNTIME_ROLE } from '../../src/app.ts'
import { findPaymentsStatement } from '../../src/payments/batches-sql.ts'
import { makePool } from '../../src/db/pool.ts'
import { connectionCpuMs, insertMerchant, insertPayments } from '../support/database.ts'
import { connectorOf, pay, startModelBank } from '../support/model-bank.ts'
import { median } from '../support/numbers.ts'
import { printTable } from '../support/report.ts'
import { createStatement } from '../support/statements.ts'
import type { ClusterDatabase } from './cluster.ts'

/** Claims up to 100 webhooks, which are due again at once. */
export const CLAIM = `select count(*) from claim_webhooks(
  'bench', '00000000-0000-0000-0000-000000000000', 100, 8, interval '0', '{}', '{}', '{}'
)`
const MERCHANTS = 20
/** How long the servers are watched without work. */
const IDLE_MS = 6_000

export type Side = { name: string; database: ClusterDatabase }
/** Microseconds of PostgreSQL's processor time, and milliseconds until it has answered, per call. */
type Cost = { cpuUs: number; ms: number }
type Work = () => Promise<Cost>
/** Work of both sides. */
export type Compared = { what: string; works: readonly Work[] }

/** Prints what work costs PostgreSQL on both sides. */
export async function printFigures(sides: readonly Side[], rounds: number): Promise<void> {
  const bank = await bankWork(sides)
  try {
    const names = sides.map(({ name }) => name)
    const compared = [...(await statementWorks(sides)), bank]
    await printCompared('With Citus beside the same PostgreSQL without it', { names, compared, rounds })
  } finally {
    await bank.close()
  }
}

/** Measures works in turns within one run, and prints their medians and the second side as a multiple of the first. */
export async function printCompared(
  title: string,
  { names, compared, rounds }: { names: readonly string[]; compared: readonly Compared[]; rounds: number },
): Promise<void> {
  const rows: string[][] = [['work', ...names.flatMap((name) => [`${name}: CPU µs`, 'ms']), 'CPU', 'ms']]
  for (const { what, works } of compared) {
    process.stderr.write(`  ${what}\n`)
    const taken = await takeTurns(works, rounds)
    const of = (pick: (one: Cost) => number) => taken.map((each) => median(each.map(pick)))
    const [cpu, ms] = [of((one) => one.cpuUs), of((one) => one.ms)]
    const ratio = ([first = Number.NaN, second = Number.NaN]: readonly number[]) => (second / first).toFixed(2)
    const cells = cpu.flatMap((us, at) => [us.toFixed(0), (ms[at] ?? Number.NaN).toFixed(2)])
    rows.push([what, ...cells, ratio(cpu), ratio(ms)])
  }
  printTable(title, rows)
}

/** Work whose processor time is that of all servers of its side, without what they use while they have nothing to do. */
export async function workOf(
  database: ClusterDatabase,
  calls: number,
  call: (nth: number) => Promise<unknown>,
): Promise<Work> {
  const cost = async (work: () => Promise<unknown>) => {
    const before = (await database.cpuMs()) ?? Number.NaN
    const begun = performance.now()
    await work()
    const ms = performance.now() - begun
    return { cpuMs: ((await database.cpuMs()) ?? Number.NaN) - before, ms }
  }
  const idle = await cost(() => delay(IDLE_MS))
  return async () => {
    const { cpuMs, ms } = await cost(async () => {
      for (let nth = 0; nth < calls; nth += 1) await call(nth)
    })
    return { cpuUs: (cpuMs - (idle.cpuMs / idle.ms) * ms) * (1_000 / calls), ms: ms / calls }
  }
}

async function takeTurns(works: readonly Work[], rounds: number): Promise<Cost[][]> {
  const taken: Cost[][] = works.map(() => [])
  for (let round = 0; round <= rounds; round += 1)
    for (const at of round % 2 === 0 ? works.keys() : [...works.keys()].toReversed()) {
      const one = await works[at]?.()
      // The first round warms up.
      if (one !== undefined && round > 0) taken[at]?.push(one)
    }
  return taken
}

/** Statements on tables that stay on the coordinator: the processor time of the connection's own process. */
async function statementWorks(sides: readonly Side[]): Promise<Compared[]> {
  const prepared = await Promise.all(
    sides.map(async ({ database }) => {
      const merchants = []
      for (let n = 0; n < MERCHANTS; n += 1)
        merchants.push(await insertMerchant(database, `bench-${n}`, 'https://shop.example/'))
      const [merchant] = merchants
      if (merchant === undefined) throw new Error('there is no merchant')
      const ids = await insertPayments(database, merchant, 2_000)
      for (const each of merchants.slice(1)) await insertPayments(database, each, 100)
      await database.owner.query('vacuum analyze')
      const { rows } = await database.owner.query<{ pid: number }>('select pg_backend_pid() as pid')
      return { owner: database.owner, merchantId: merchant.id, ids, pid: rows[0]?.pid ?? 0 }
    }),
  )
  const statement = (
    what: string,
    calls: number,
    query: (side: (typeof prepared)[number]) => { text: string; values?: unknown[] },
  ): Compared => ({
    what,
    works: prepared.map((side) => async () => {
      const named = { name: what.replaceAll(' ', '_'), ...query(side) }
      const before = (await connectionCpuMs(side.pid)) ?? Number.NaN
      const begun = performance.now()
      for (let call = 0; call < calls; call += 1) await side.owner.query(named)
      const ms = (performance.now() - begun) / calls
      return { cpuUs: (((await connectionCpuMs(side.pid)) ?? Number.NaN) - before) * (1_000 / calls), ms }
    }),
  })
  return [
    statement('a new payment', 100, ({ merchantId }) => ({ text: createStatement(merchantId, 1) })),
    statement('32 new payments', 30, ({ merchantId }) => ({ text: createStatement(merchantId, 32) })),
    statement('a payment with its history', 500, ({ merchantId, ids }) => ({
      text: findPaymentsStatement,
      values: [JSON.stringify([{ merchant_id: merchantId, id: ids[7] }])],
    })),
    statement('a claim of 100 webhooks', 100, () => ({ text: CLAIM })),
  ]
}

/** A payment at a bank, whose records the Citus nodes have: the processor time of all servers of its side. */
async function bankWork(sides: readonly Side[]): Promise<Compared & { close: () => Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), 'svc-citus-bank-'))
  const bank = await startModelBank(dir)
  const ca = await readFile(join(dir, 'model-bank-ca.pem'), 'utf8')
  const made = await Promise.all(
    sides.map(async ({ database }) => {
      const pool = await makePool({ databaseUrl: database.url, role: RUNTIME_ROLE, size: 4 })
      return { pool, database, connector: await connectorOf(dir, pool) }
    }),
  )
  return {
    what: 'a payment at a bank',
    works: await Promise.all(made.map(({ database, connector }) => workOf(database, 20, () => pay(connector, ca)))),
    close: async () => {
      for (const { pool, connector } of made) {
        await connector.close?.()
        await pool.end()
      }
      await bank.stop()
      await rm(dir, { recursive: true, force: true })
    },
  }
}
