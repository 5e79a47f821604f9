import { randomUUID } from 'node:crypto'
import t from 'tap'
import { z } from 'zod'
import { ofEveryMerchant, ofMerchant } from '../../src/db/merchant-scope.ts'
import { makePool } from '../../src/db/pool.ts'
import { sql } from '../../src/db/sql.ts'
import { listBalanceRows } from '../../src/ledger/sql.ts'
import { findPaymentLimits } from '../../src/merchants/settings-sql.ts'
import { listPaymentRows } from '../../src/payments/list-sql.ts'
import { listPaymentEventRows } from '../../src/payments/sql.ts'
import { listDeliveries } from '../../src/webhooks/list-sql.ts'
import { findDelivery, listAttempts } from '../../src/webhooks/log-sql.ts'
import { testService } from '../support/app.ts'

const service = await testService(t)
const pool = await makePool({ databaseUrl: service.databaseUrl, role: 'svc_runtime', size: 1 })
t.teardown(() => pool.end())

const Kept = z.object({ name: z.string(), runs: z.bigint() })

t.test('what merchants read most is parsed once per connection, for operators and for merchants', async (t) => {
  const [one, two] = [await service.merchant(), await service.merchant()]
  const id = randomUUID()
  const reads: ((merchantId: string) => Promise<unknown>)[] = [
    (merchantId) => listPaymentRows(pool, { merchantId, query: { limit: 50 }, afterId: undefined }),
    (merchantId) => listPaymentEventRows(pool, { merchantId, id }),
    (merchantId) => listDeliveries(pool, { merchantId }, 50),
    (merchantId) => findDelivery(pool, merchantId, id),
    (merchantId) => listAttempts(pool, merchantId, id, 10),
    (merchantId) => listBalanceRows(pool, merchantId),
    (merchantId) => findPaymentLimits(pool, merchantId),
  ]
  for (const { id: merchantId } of [one, two])
    for (const read of reads) {
      await ofMerchant(merchantId, () => read(merchantId))
      await ofEveryMerchant(() => read(merchantId))
    }
  const kept = await pool.any(sql.type(Kept)`
    select name, generic_plans + custom_plans as runs from pg_prepared_statements
    where name <> 'limit_to_merchant'
    order by name
  `)
  const names = [
    'find_delivery',
    'find_payment_limits',
    'list_attempts',
    'list_balances',
    'list_deliveries',
    'list_payment_events',
    'list_payments',
  ]
  t.strictSame(
    kept,
    [...names, ...names.map((name) => `merchant_${name}`)].toSorted().map((name) => ({ name, runs: 2n })),
  )
})

t.test('a list with a filter is planned for its values', async (t) => {
  const { id: merchantId } = await service.merchant()
  const before = await countOf()
  await listPaymentRows(pool, { merchantId, query: { limit: 50, status: 'Failed' }, afterId: undefined })
  await listDeliveries(pool, { merchantId, status: 'DEAD' }, 50)
  t.equal(await countOf(), before)
})

function countOf(): Promise<bigint> {
  return pool.oneFirst(sql.typeAlias('count')`select count(*) from pg_prepared_statements`)
}
