import t from 'tap'
import { createPayment, testService } from '../support/app.ts'

/** So many that reading the merchant's others for each of them would be a hundred thousand rows. */
const PAYMENTS = 500
const READ_PER_PAYMENT_MAX = 10

const service = await testService(t)
const merchant = await service.merchant()

t.test('payments that are created one at a time in a new database are found by their keys', async (t) => {
  for (let n = 0; n < PAYMENTS; n += 1) t.equal((await createPayment(service, merchant)).status, 201)
  // A connection reports what it has read when it ends.
  await service.app.batches.create.close()
  const { rows } = await service.owner.query<{ name: string; read: string }>(
    `select coalesce(indexrelname, relname) as name, read::text as read
     from (
       select relname, indexrelname, idx_tup_read as read from pg_stat_user_indexes
       union all
       select relname, null, seq_tup_read from pg_stat_user_tables
     ) counted
     where relname in ('payment_intents', 'payment_consents', 'payment_events', 'webhook_deliveries') and read > 0`,
  )
  const read = rows.reduce((sum, row) => sum + Number(row.read), 0)
  t.ok(read < READ_PER_PAYMENT_MAX * PAYMENTS, JSON.stringify(rows))
})
