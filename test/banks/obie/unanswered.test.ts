import t from 'tap'
import { savePaymentId } from '../../../src/banks/obie/store-sql.ts'
import { until, untilStatus } from '../../support/app.ts'
import type { Answer } from '../../support/app.ts'
import { mandateBody, payUnder } from '../../support/mandates.ts'
import { authoriseAtBank, obieService } from '../../support/obie.ts'
import { eventsOf } from '../../support/payments.ts'

/** An order that a bank never answers is not sent for longer than it recognises a repeat: an operator asks the bank. */
const world = await obieService(t)
const { service, bank, merchant } = world
const headers = await service.operator('OPS')

const resolve = (id: string, body: object): Promise<Answer> =>
  service.call('POST', `/api/v1/admin/payments/${id}/resolve`, {
    headers,
    body: { reason: 'so says the bank', ...body },
  })

const inBooks = async (endToEndId: string) =>
  (await bank.books()).payments.filter((each) => each.endToEndId === endToEndId)

async function tasks(): Promise<string[]> {
  const { body } = await service.call('GET', '/api/v1/admin/inbox', { headers })
  return body.data
    .filter(({ kind }: { kind: string }) => kind === 'payment_unanswered')
    .map(({ id }: { id: string }) => id)
}

/** Two days later, no answer has come. */
async function waitForOperator(id: string): Promise<void> {
  await service.owner.query(
    `update obie.payments set first_sent_at = now() - interval '2 days' where payment_id = $1`,
    [id],
  )
  await until(async () => (await tasks()).includes(id))
}

t.test('what the bank has taken is asked for by the id that the bank gave to an operator', async (t) => {
  await bank.setFault({ name: 'half_a_body', times: 100 })
  const { id, endToEndId } = await authoriseAtBank(world)
  await until(async () => (await inBooks(endToEndId)).length === 1)
  t.match(await resolve(id, { outcome: 'NOT_TAKEN' }), { status: 409, body: { code: 'PAYMENT_NOT_RESOLVABLE' } })
  await waitForOperator(id)
  await bank.clearFaults()
  const explained = await service.call('GET', `/api/v1/admin/explain/${id}`, { headers })
  t.match(explained.text, /never answered[^]*svc payments resolve/)

  const other = await authoriseAtBank(world)
  await untilStatus(service, merchant, other.id, 'Settled')
  const [{ id: otherId } = { id: '' }] = await inBooks(other.endToEndId)
  t.match(await resolve(id, { outcome: 'TAKEN', bank_payment_id: otherId }), {
    status: 409,
    body: { code: 'PAYMENT_NOT_RESOLVABLE', errors: [{ path: 'bank_payment_id' }] },
  })
  t.match(await resolve(id, { outcome: 'TAKEN', bank_payment_id: 'mistyped' }), {
    status: 502,
    body: { code: 'BANK_UNAVAILABLE' },
  })
  t.match(await resolve(id, { outcome: 'TAKEN' }), { status: 400, body: { errors: [{ path: 'bank_payment_id' }] } })
  t.same(await tasks(), [id], 'nothing of it changed anything')

  const [{ id: bankPaymentId } = { id: '' }] = await inBooks(endToEndId)
  t.match(await resolve(id, { outcome: 'TAKEN', bank_payment_id: bankPaymentId }), {
    status: 200,
    body: { payment_id: id, status: /Authorised|Settled/ },
  })
  await untilStatus(service, merchant, id, 'Settled')
  t.match(await inBooks(endToEndId), { length: 1 }, 'it was paid once')
  t.same(await tasks(), [])
  t.match(await resolve(id, { outcome: 'NOT_TAKEN' }), { status: 409, body: { current: { status: 'Settled' } } })
})

t.test('what the bank has not taken fails, once, with its reason in the audit trail', async (t) => {
  await bank.setFault({ name: 'server_error', on: ['createPayment'], times: 100 })
  const { id, endToEndId } = await authoriseAtBank(world)
  await until(async () => {
    const { rows } = await service.owner.query('select from obie.payments where payment_id = $1 and times_asked > 0', [
      id,
    ])
    return rows.length === 1
  })
  await waitForOperator(id)
  t.match(await resolve(id, { outcome: 'NOT_TAKEN', failure_code: 'PAYER' }), { status: 400 })
  const answers = await Promise.all([1, 2, 3].map(() => resolve(id, { outcome: 'NOT_TAKEN' })))
  t.same(answers.map(({ status }) => status).toSorted(), [200, 409, 409])
  const { failure } = await untilStatus(service, merchant, id, 'Failed')
  t.match(failure, { code: 'BANK_ERROR' })
  t.match((await eventsOf(service, id)).at(-1), { new_status: 'Failed', changed_by: 'BATCH_JOB' })
  const { rows } = await service.owner.query(
    "select reason, after from operator_actions where action = 'payment.resolve' and subject_id = $1",
    [id],
  )
  t.match(rows, [{ reason: 'so says the bank', after: { outcome: 'NOT_TAKEN', failure_code: 'BANK_ERROR' } }])
  t.same(await tasks(), [])
  await bank.clearFaults()
  t.same(await inBooks(endToEndId), [], 'the order is not sent any more')
})

t.test('a payment that its bank has accepted, and does not know any more, is a task after three days', async (t) => {
  await bank.setFault({ name: 'late_settlement', seconds: 3_600, times: 1 })
  const { id } = await authoriseAtBank(world)
  const known = await until(async () => {
    const { rows } = await service.owner.query<{ bank_payment_id: string | null }>(
      'select bank_payment_id from obie.payments where payment_id = $1',
      [id],
    )
    return rows[0]?.bank_payment_id ?? undefined
  })
  await service.owner.query(
    `update obie.payments set bank_payment_id = 'unknown', first_sent_at = now() - interval '4 days' where payment_id = $1`,
    [id],
  )
  const askNow = `update payment_intents set settle_at = now(), updated_at = now() - interval '4 days' where id = $1`
  await service.owner.query(askNow, [id])
  service.app.wake.notify('settle-payments')
  await until(async () => (await tasks()).includes(id))
  await service.owner.query('update obie.payments set bank_payment_id = $1 where payment_id = $2', [known, id])
  await bank.control('POST', `/payments/${known}/settle`)
  await service.owner.query(`${askNow} and status = 'Authorised'`, [id])
  service.app.wake.notify('settle-payments')
  await untilStatus(service, merchant, id, 'Settled')
  t.same(await tasks(), [], 'it is still asked, and its answer ends the task')
})

t.test('the id of another collection under the same mandate is refused', async (t) => {
  const first = await authoriseAtBank(world, { changes: mandateBody() })
  const { consent_id: consentId } = await untilStatus(service, merchant, first.id, 'Settled')
  const { rows } = await service.owner.query<{ id: string }>(
    'select bank_payment_id as id from obie.payments where payment_id = $1',
    [first.id],
  )
  await bank.setFault({ name: 'half_a_body', times: 100 })
  const { body } = await payUnder(service, merchant, { consentId, changes: { amount: '7.02' } })
  const id: string = body.payment_id
  await until(async () => (await bank.books()).payments.some(({ amount }) => amount === '7.02'))
  await waitForOperator(id)
  await bank.clearFaults()
  t.match(await resolve(id, { outcome: 'TAKEN', bank_payment_id: rows[0]?.id }), {
    status: 409,
    body: { code: 'PAYMENT_NOT_RESOLVABLE' },
  })
  const { pool } = service.app
  t.equal(await savePaymentId(pool, { paymentId: id, bankPaymentId: String(rows[0]?.id) }), false)
  t.equal(await savePaymentId(pool, { paymentId: first.id, bankPaymentId: 'another' }), false, 'an id stays')
  t.equal(await savePaymentId(pool, { paymentId: first.id, bankPaymentId: String(rows[0]?.id) }), true)
  const taken = (await bank.books()).payments.find(({ amount }) => amount === '7.02')
  t.match(await resolve(id, { outcome: 'TAKEN', bank_payment_id: taken?.id }), { status: 200 })
  await untilStatus(service, merchant, id, 'Settled')
})

t.test('orders without an answer do not close the bank for others', async (t) => {
  const { body } = await service.call('GET', '/api/v1/banks')
  t.match(
    body.data.find(({ id }: { id: string }) => id === 'model'),
    { available: true },
  )
})
