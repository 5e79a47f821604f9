import { randomUUID } from 'node:crypto'
import t from 'tap'
import { createPayment, testService } from '../support/app.ts'

/* Payments have no foreign key to merchants: that of their consent stands for it. */
const service = await testService(t)
const merchant = await service.merchant()
const { body } = await createPayment(service, merchant)

const FOREIGN_KEY_VIOLATION = { code: '23503' }

t.test('a payment is of a merchant that exists', async (t) => {
  const other = randomUUID()
  const move = (table: string, id: unknown) =>
    service.owner.query(`update ${table} set merchant_id = $1 where id = $2`, [other, id])
  await t.rejects(move('payment_intents', body.payment_id), FOREIGN_KEY_VIOLATION)
  await t.rejects(move('payment_consents', body.consent_id), FOREIGN_KEY_VIOLATION)
})

t.test('a merchant with payments is not deleted, whatever else refers to it', async (t) => {
  await service.owner.query('begin')
  const { rows } = await service.owner.query<{ name: string; held: string }>(
    `select conname as name, conrelid::regclass::text as held from pg_constraint
     where contype = 'f' and confrelid = 'merchants'::regclass and conrelid <> 'payment_consents'::regclass`,
  )
  t.ok(rows.length > 0)
  for (const { name, held } of rows) await service.owner.query(`alter table ${held} drop constraint "${name}"`)
  await t.rejects(service.owner.query('delete from merchants where id = $1', [merchant.id]), FOREIGN_KEY_VIOLATION)
  await service.owner.query('rollback')
})
