import { makeApp } from '../../src/app.ts'
import { bankOf } from '../../src/banks/connector.ts'
import { readConfig } from '../../src/config/read.ts'
import { settlePayments } from '../../src/payments/settle-payments.ts'
import { startService, withCost } from '../support/context.ts'
import type { BenchOptions } from '../support/context.ts'
import { encryptionKey, insertMerchant, insertPayments } from '../support/database.ts'
import type { BenchDatabase, BenchMerchant } from '../support/database.ts'
import { requestText, runLoad } from '../support/load.ts'
import type { Sample } from '../support/numbers.ts'
import { measureLimit } from '../support/pgbench.ts'
import { printResults } from '../support/report.ts'
import type { RatioTarget } from '../support/report.ts'
import { ratioOf, takeTurns } from '../support/rounds.ts'
import { moveAll, moveItem } from './settle.ts'

const CONNECTIONS = 64
/** More than any contender moves. */
const PER_SECOND_MAX = 3_000
const SETTLED_PER_SECOND = 1_000

const LIMIT = 'limit: move_payments, one per call'
const COMPLETE = `service, sca-complete, ${CONNECTIONS} connections`
const SETTLE = 'service, the job that settles, at a bank that responds at once'

/** Payments whose payers return from the bank, and payments that settle, per second, beside their statement alone. */
export async function benchComplete(bench: BenchOptions): Promise<RatioTarget[]> {
  const database = await bench.server.database('bench_complete')
  const merchant = await insertMerchant(database, 'bench-complete', 'https://shop.example/webhooks')
  const service = await startService(bench, database, ['api'])
  const app = await makeApp(
    readConfig({
      SVC_IDENTITY: 'none',
      SVC_DATABASE_URL: database.url,
      SVC_ENCRYPTION_KEY: encryptionKey,
      SVC_LOG_LEVEL: 'silent',
    }),
  )
  // What the mock bank books is its own work, as a bank's is.
  const execute = async ({ paymentId }: { paymentId: string }) =>
    ({ outcome: 'executed', bankReference: paymentId }) as const
  const atOnce = { ...app, banks: new Map([['mock', { ...bankOf(app.banks, 'mock'), execute }]]) }
  const port = Number(service.ready['port'])
  const results = await takeTurns(
    [
      { name: LIMIT, run: (seconds) => moveOneByOne(database, merchant, seconds) },
      {
        name: COMPLETE,
        run: async (seconds) => {
          const returning = await insertDecided(database, merchant, (seconds + 1) * PER_SECOND_MAX)
          const next = () => completion(returning.pop())
          return withCost(bench, service, seconds, () =>
            runLoad({ port, connections: CONNECTIONS, seconds, next, status: 200, perSecondMax: PER_SECOND_MAX }),
          )
        },
      },
      {
        name: SETTLE,
        run: async (seconds) => {
          // Those that other turns have authorised are not due.
          await database.owner.query(`update payment_intents set settle_at = 'infinity' where status = 'Authorised'`)
          const due = await insertDecided(database, merchant, seconds * SETTLED_PER_SECOND)
          await moveAll(database.owner, { merchantId: merchant.id, ids: due.map(({ id }) => id), move: 'authorise' })
          const begun = performance.now()
          while ((await settlePayments(atOnce)).more) continue
          const took = (performance.now() - begun) / 1000
          await checkSettled(database, due)
          return { rate: due.length / took }
        },
      },
    ],
    bench,
  )
  await Promise.all([service.stop(), app.close()])
  printResults('Complete and settle a payment', results)
  return [
    { what: 'sca-complete : its statement, one per call', ratio: ratioOf(results, COMPLETE, LIMIT), least: 1 },
    { what: 'settle : its statement, one per call', ratio: ratioOf(results, SETTLE, LIMIT), least: 1 },
  ]
}

type Decided = { id: string; state: string; code: string }

/** Payments that their payers have approved at the mock bank, and not returned from. */
async function insertDecided(database: BenchDatabase, merchant: BenchMerchant, count: number): Promise<Decided[]> {
  const ids = await insertPayments(database, merchant, count)
  const { rows } = await database.owner.query<Decided>(
    `with decided as (
       insert into mock_bank.authorisations (
         state, consent_reference, end_to_end_id, amount, currency, payee_name, scenario, decision, code, bank_reference
       )
       select bank_consent_id, id, end_to_end_id, gross_amount, currency, 'Bench', 'success', 'approve', id, id
       from payment_intents
       where merchant_id = $1 and id = any($2)
       returning state, code
     )
     select p.id, d.state, d.code from decided d join payment_intents p on p.bank_consent_id = d.state`,
    [merchant.id, ids],
  )
  await database.owner.query('analyze payment_intents, payment_consents, mock_bank.authorisations')
  return rows
}

async function checkSettled({ owner }: BenchDatabase, due: readonly Decided[]): Promise<void> {
  const { rows } = await owner.query<{ settled: boolean }>(
    `select bool_and(status = 'Settled') as settled from payment_intents where id = any($1)`,
    [due.map(({ id }) => id)],
  )
  if (rows[0]?.settled !== true) throw new Error('not every payment has settled')
}

function completion(payment: Decided | undefined): string {
  if (payment === undefined) throw new Error('more payments were completed than there are')
  const { id, state, code } = payment
  return requestText('POST', `/api/v1/payments/${id}/sca-complete`, {}, JSON.stringify({ state, code }))
}

/** Authorises payments as the bank's answer does, by PostgreSQL alone. */
async function moveOneByOne(database: BenchDatabase, merchant: BenchMerchant, seconds: number): Promise<Sample> {
  const waiting = await insertDecided(database, merchant, seconds * PER_SECOND_MAX)
  const { owner } = database
  await owner.query('drop table if exists waiting; drop sequence if exists turn; create sequence turn')
  await owner.query('create table waiting (n integer primary key generated always as identity, id uuid not null)')
  await owner.query('insert into waiting (id) select unnest($1::uuid[])', [waiting.map(({ id }) => id)])
  const sample = await measureLimit({ url: database.url, statement: moveStatement(merchant.id), clients: 16 }, seconds)
  const { rows } = await owner.query<{ isEnough: boolean }>(
    `select last_value <= (select max(n) from waiting) as "isEnough" from turn`,
  )
  if (rows[0]?.isEnough !== true) throw new Error('more payments were moved than there are')
  return sample
}

function moveStatement(merchantId: string): string {
  return `
    select m.outcome
    from waiting w, move_payments(json_build_array(${moveItem('authorise', { merchantId: `'${merchantId}'`, id: 'w.id' })})) m
    where w.n = (select nextval('turn'))`
}
