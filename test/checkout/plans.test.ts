import { createHash, randomUUID } from 'node:crypto'
import t from 'tap'
import { createPayment, testService } from '../support/app.ts'
import { measurePlan } from '../support/kept-plan.ts'
import { plantPayments } from '../support/plant-payments.ts'

/** Payments of one merchant that the checkout has started. */
const STARTED = 10_000

const service = await testService(t)
const { owner } = service
const merchant = await service.merchant()
const { body } = await createPayment(service, merchant)
await plantPayments(owner, {
  paymentId: body.payment_id,
  count: STARTED,
  columns: { checkout_token_hash: 'repeat(md5(n::text), 2)' },
})
await owner.query('vacuum analyze payment_intents')

/** A new payment as `create_payments` takes it. */
function itemOf(changes: object): string {
  const id = randomUUID()
  const item = {
    merchant_id: merchant.id,
    payment_id: id,
    consent_id: randomUUID(),
    audit_id: randomUUID(),
    bank_consent_id: id,
    bank_connector: 'mock',
    end_to_end_id: `SVC${id.replaceAll('-', '')}`,
    idempotency_key: id,
    request_fingerprint: '0'.repeat(64),
    amount: '50.0000',
    currency: 'GBP',
    redirect_uri: 'https://shop.example/return',
    raw_payload: '{}',
    consent_seconds: 5400,
    status: 'Initiated',
    changed_by: 'MERCHANT_API',
    ...changes,
  }
  return JSON.stringify([item])
}

const pagesOf = (changes: object) => measurePlan(owner, 'select * from create_payments($1::json)', [itemOf(changes)])

t.test('a payment of the checkout is created without a look at those of other orders', async (t) => {
  await owner.query('begin')
  // The first creation of a connection reads catalogues besides.
  await pagesOf({})
  const without = await pagesOf({})
  const hash = createHash('sha256').update('a new order').digest('hex')
  const plan = await pagesOf({ checkout_token_hash: hash })
  t.ok(plan.buffers < without.buffers + 30, `${plan.buffers} pages, and ${without.buffers} without a token`)
  await owner.query('rollback')
})

/** How often the indexes of tokens were read, as far as this connection has not reported it. */
async function countLooks(): Promise<number> {
  const { rows } = await owner.query<{ count: string }>(
    `select sum(pg_stat_get_xact_numscans(name::regclass)) as count
     from unnest('{payment_intents__checkout_tries, payment_intents__checkout_token_hash}'::text[]) name`,
  )
  return Number(rows[0]?.count)
}

t.test('a payment without a token reads no index of tokens', async (t) => {
  const looks = async (changes: object): Promise<number> => {
    // Reported between transactions alone.
    await owner.query('begin')
    const before = await countLooks()
    await owner.query('select * from create_payments($1)', [itemOf(changes)])
    const after = await countLooks()
    await owner.query('rollback')
    return after - before
  }
  t.equal(await looks({}), 0)
  t.ok((await looks({ checkout_token_hash: 'a'.repeat(64) })) > 0, 'and one with a token does')
})
