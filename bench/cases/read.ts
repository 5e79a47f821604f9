import { startService, withCost } from '../support/context.ts'
import type { BenchOptions } from '../support/context.ts'
import { insertMerchant, insertPayments } from '../support/database.ts'
import type { BenchDatabase } from '../support/database.ts'
import { requestText, runLoad } from '../support/load.ts'
import { measureLimit } from '../support/pgbench.ts'
import { printResults } from '../support/report.ts'
import type { RatioTarget } from '../support/report.ts'
import { ratioOf, takeTurns } from '../support/rounds.ts'

const CONNECTIONS = 64
const LIMIT = 'limit: a payment with its history as json, one per call'
const SERVICE = `service, GET, ${CONNECTIONS} connections`

/** Payments read per second, each with its history, chosen at random. */
export async function benchRead(bench: BenchOptions): Promise<RatioTarget[]> {
  const database = await bench.server.database('bench_read')
  const merchant = await insertMerchant(database, 'bench-read', 'https://shop.example/webhooks')
  const ids = await insertPayments(database, merchant, bench.quick ? 5_000 : 100_000)
  await numberThePayments(database)
  const service = await startService(bench, database, ['api'])
  const next = () => {
    const id = ids[Math.floor(Math.random() * ids.length)] ?? ''
    return requestText('GET', `/api/v1/payments/${id}`, { 'x-merchant-client-id': merchant.clientId })
  }
  const load = (seconds: number) =>
    runLoad({ port: Number(service.ready['port']), connections: CONNECTIONS, seconds, next, status: 200 })
  const results = await takeTurns(
    [
      {
        name: LIMIT,
        run: (seconds) =>
          measureLimit({ url: database.url, statement: READ_ONE, max: ids.length, clients: 16 }, seconds),
      },
      { name: SERVICE, run: (seconds) => withCost(bench, service, seconds, () => load(seconds)) },
    ],
    bench,
  )
  await service.stop()
  printResults('Read a payment', results)
  return [{ what: 'GET payment : one select of a payment', ratio: ratioOf(results, SERVICE, LIMIT), least: 0.5 }]
}

/** pgbench knows numbers, not ids. */
async function numberThePayments({ owner }: BenchDatabase): Promise<void> {
  await owner.query(
    'create table numbered as select (row_number() over (order by id))::int as n, merchant_id, id from payment_intents',
  )
  await owner.query('alter table numbered add primary key (n)')
  await owner.query('vacuum analyze')
}

/** The response body, built by PostgreSQL alone. */
const READ_ONE = `
  select json_build_object(
    'payment_id', p.id, 'status', p.status, 'end_to_end_id', p.end_to_end_id, 'consent_id', p.consent_id,
    'consent_type', c.consent_type, 'consent_status', c.status, 'gross_amount', p.gross_amount::text,
    'fee_amount', p.fee_amount::text, 'net_amount', p.net_amount::text, 'refunded_amount', p.refunded_amount::text,
    'currency', p.currency, 'redirect_url', p.redirect_url, 'debtor_bank_id', c.debtor_bank_id, 'payer_name', c.payer_name,
    'remittance_reference', c.remittance_reference, 'metadata', p.metadata, 'expires_at', c.expires_at,
    'created_at', p.created_at, 'updated_at', p.updated_at, 'status_history', (
      select json_agg(json_build_object(
        'ordinal', e.ordinal, 'previous_status', e.previous_status, 'new_status', e.new_status,
        'changed_by', e.changed_by, 'created_at', e.created_at
      ) order by e.ordinal)
      from payment_events e
      where e.merchant_id = p.merchant_id and e.payment_intent_id = p.id
    )
  )::text
  from numbered n
  join payment_intents p on p.merchant_id = n.merchant_id and p.id = n.id
  join payment_consents c on c.merchant_id = p.merchant_id and c.id = p.consent_id
  where n.n = :n`
