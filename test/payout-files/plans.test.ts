import { randomUUID } from 'node:crypto'
import t from 'tap'
import { z } from 'zod'
import { sql } from '../../src/db/sql.ts'
import { insertPayoutFile } from '../../src/payout-files/sql.ts'
import { createPayouts } from '../../src/payouts/create-payouts.ts'
import { createPayment, testService } from '../support/app.ts'
import { payableMerchant } from '../support/payouts.ts'

const REFUNDS = 20_000

t.test('writing a file reads its own refunds alone, however many there are of others', async (t) => {
  const service = await testService(t)
  const { app, owner } = service
  const { body } = await createPayment(service, await service.merchant())
  await owner.query('set session_replication_role = replica')
  await owner.query(
    `insert into payment_refunds (
       id, merchant_id, payment_intent_id, amount, request_fingerprint, raw_payload, end_to_end_id
     )
     select md5('refund ' || n)::uuid, md5('merchant ' || n)::uuid, $1, n, repeat('0', 64), '{}', 'E' || n
     from generate_series(1, ${REFUNDS}) n`,
    [body.payment_id],
  )
  await owner.query('set session_replication_role = origin')
  await owner.query('vacuum analyze payment_refunds')
  const { rows: refunds } = await owner.query<{ merchant_id: string; id: string }>(
    'select merchant_id, id from payment_refunds where amount <= 3',
  )
  await payableMerchant(service)
  await createPayouts(app)
  const { rows: payouts } = await owner.query<{ id: string; amount: string }>('select id, amount from payouts')
  const payoutIds = payouts.map(({ id }) => id)
  t.equal(payoutIds.length, 1)
  for (const [written, itsPayouts, sum] of [
    [refunds, [], '6.0000'],
    [[], payoutIds, payouts[0]?.amount],
  ] as const) {
    await app.pool.transaction(async (tx) => {
      const file = await insertPayoutFile(tx, {
        id: app.ids.uuid(),
        messageId: randomUUID().replaceAll('-', ''),
        payoutIds: itsPayouts,
        refunds: written,
        content: 'v1.sealed',
        contentHash: '0'.repeat(64),
        createdBy: 'test',
      })
      t.match(file, { refund_count: written.length, control_sum: sum })
      const read = await tx.oneFirst(sql.type(z.object({ count: z.int() }))`
        select (seq_tup_read + idx_tup_fetch)::int4 as count from pg_stat_xact_user_tables where relname = 'payment_refunds'
      `)
      t.ok(read <= 3 * written.length, `${read} rows were read for ${written.length} refunds`)
    })
  }
  const marked = await owner.query('select from payment_refunds where file_id is not null and sent_at is not null')
  t.equal(marked.rowCount, 3)
})
