import t from 'tap'
import { settlePayments } from '../../src/payments/settle-payments.ts'
import { insertUnanswered } from '../../src/payments/unanswered-sql.ts'
import { authorisedPayment, testService } from '../support/app.ts'
import type { Answer, TestMerchant } from '../support/app.ts'
import { balancesOf } from '../support/ledger.ts'
import { movesOf, webhookTypesOf } from '../support/payments.ts'
import { hashTables } from '../support/rows.ts'
import { steeredBank } from '../support/steered-bank.ts'

/** A bank that answers that it has settled a payment, after an operator has recorded that it has no such order. */
const bank = steeredBank()
const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' }, overrides: { bank: bank.connector } })
bank.behind(service.app.mockBank)
const { app, owner } = service
const merchant = await service.merchant()
const headers = await service.operator('OPS')

const resolve = (id: string, body: object, { query = '', as = headers } = {}): Promise<Answer> =>
  service.call('POST', `/api/v1/admin/payments/${id}/resolve${query}`, {
    headers: as,
    body: { reason: 'so says the bank', ...body },
  })

async function tasks(): Promise<Answer['body'][]> {
  const { body } = await service.call('GET', '/api/v1/admin/inbox', { headers })
  return body.data.filter(({ kind }: { kind: string }) => kind.startsWith('payment_'))
}

async function differences(): Promise<Answer['body'][]> {
  return (await service.call('GET', '/api/v1/admin/reconciliation', { headers })).body.differences
}

async function settledLate(): Promise<string> {
  const { id } = await authorisedPayment(service, merchant, { amount: '50.00' })
  await insertUnanswered(app.pool, { id, merchant_id: merchant.id })
  bank.steer('execute', async (answer) => {
    t.match(await resolve(id, { outcome: 'RETURNED' }), { status: 409, body: { code: 'PAYMENT_NOT_RESOLVABLE' } })
    t.match(await resolve(id, { outcome: 'NOT_TAKEN' }), { status: 200, body: { status: 'Failed' } })
    return answer()
  })
  await settlePayments(app)
  bank.steer('execute', undefined)
  return id
}

t.test(
  'what a bank settles after the payment has failed is a task and a difference, until the payer has it',
  async (t) => {
    const id = await settledLate()
    const webhooks = await webhookTypesOf(service, id)
    t.equal(webhooks.at(-1), 'payment.failed', 'it stays failed')
    t.match(await tasks(), [
      { kind: 'payment_settled_late', id, merchant_id: merchant.id, command: `svc payments resolve ${id}` },
    ])
    t.match(await differences(), [
      { kind: 'BANK_DEBIT_OF_FAILED', subject: id, found_amount: '50.00' },
      { kind: 'SETTLED_AFTER_FAILURE', subject: id, payment_id: id, expected_amount: null, found_amount: '50.00' },
    ])
    const explained = await service.call('GET', `/api/v1/admin/explain/${id}`, { headers })
    t.match(explained.text, /Its bank settled it afterwards[^]*svc payments resolve/)
    for (const body of [{ outcome: 'NOT_TAKEN' }, { outcome: 'TAKEN', bank_payment_id: 'X' }])
      t.match(await resolve(id, body), { status: 409, body: { code: 'PAYMENT_NOT_RESOLVABLE', error: /RETURNED/ } })
    await settlePayments(app)
    t.equal((await tasks()).length, 1, 'once, however often the job runs')

    const before = await hashTables(owner)
    t.match(await resolve(id, { outcome: 'RETURNED' }, { query: '?dry_run=true' }), { status: 200 })
    t.same(await hashTables(owner), before)
    const answers = await Promise.all([1, 2, 3].map(() => resolve(id, { outcome: 'RETURNED' })))
    t.same(answers.map(({ status }) => status).toSorted(), [200, 409, 409])
    t.same([await tasks(), await differences()], [[], []])
    t.same((await movesOf(service, id)).at(-1), 'Failed')
    t.same(await balancesOf(service, merchant), {}, 'nothing is booked')
    const { rows } = await owner.query(
      `select after from operator_actions where action = 'payment.resolve' and subject_id = $1 order by ordinal`,
      [id],
    )
    t.match(rows, [{ after: { outcome: 'NOT_TAKEN' } }, { after: { outcome: 'RETURNED', bank_reference: String } }])
  },
)

t.test("or until it is added to the merchant's balance", async (t) => {
  const id = await settledLate()
  const before = await hashTables(owner)
  t.match(await resolve(id, { outcome: 'CREDITED' }), { status: 403, body: { code: 'FORBIDDEN_ROLE', next: /OWNER/ } })
  t.same(await hashTables(owner), before, 'whoever operates corrects no balance')
  const as = await service.operator('OWNER')
  t.match(await resolve(id, { outcome: 'CREDITED' }, { as }), { status: 200, body: { status: 'Failed' } })
  t.match(await balancesOf(service, merchant), { GBP: { clearing: '50.0000', bank: '50.0000', fees_earned: '0.0000' } })
  t.same([await tasks(), await differences()], [[], []])
  const { rows } = await owner.query('select amount, booked_against, reference from corrections')
  t.match(rows, [{ amount: '50.0000', booked_against: 'bank', reference: new RegExp(id) }])
  t.match(await resolutionOf(id), { outcome: 'CREDITED', added_amount: '50.0000', corrected_before: '0.0000' })
  const again = await correct({ payment_id: id })
  const rejected = { status: 400, body: { errors: [{ path: 'payment_id', code: 'ALREADY_THERE' }] } }
  t.match(again, rejected, 'a correction that names the payment does not add it again')
  t.equal((await correctionsOf(id)).length, 1)
})

async function correct(
  body: object,
  { of = merchant, key }: { of?: TestMerchant; key?: string } = {},
): Promise<Answer> {
  return service.call('POST', `/api/v1/admin/merchants/${of.id}/corrections`, {
    headers: { ...(await service.operator('OWNER')), ...(key === undefined ? {} : { 'x-idempotency-key': key }) },
    body: { amount: '50.00', currency: 'GBP', booked_against: 'BANK', reason: 'it is on the statement', ...body },
  })
}

async function correctionsOf(paymentId: string): Promise<{ correction_id: string }[]> {
  const { rows } = await owner.query('select id as correction_id from corrections where payment_id = $1', [paymentId])
  return rows
}

t.test('a correction that names its payment is the one of it, whatever its task is resolved as later', async (t) => {
  const id = await settledLate()
  const made = await correct({ payment_id: id }, { key: 'late' })
  t.match(made, { status: 201, body: { payment_id: id, amount: '50.00' } })
  t.match(await correct({ payment_id: id }, { key: 'late' }), { status: 201, body: made.body }, 'a repeated request')
  t.match(await correct({ payment_id: id }), { status: 400, body: { errors: [{ code: 'ALREADY_THERE' }] } })
  const before = await balancesOf(service, merchant)
  const as = await service.operator('OWNER')
  t.match(await resolve(id, { outcome: 'CREDITED' }, { as }), { status: 200 })
  t.same(await balancesOf(service, merchant), before, 'nothing more is booked')
  t.same([await tasks(), await differences()], [[], []])
  t.equal((await correctionsOf(id)).length, 1)
})

async function resolutionOf(paymentId: string): Promise<object> {
  const { rows } = await owner.query(
    `select after from operator_actions where action = 'payment.resolve' and subject_id = $1 order by ordinal desc limit 1`,
    [paymentId],
  )
  return rows[0].after
}

t.test('corrections add parts of a payment, and together no more than it', async (t) => {
  const id = await settledLate()
  const tooMuch = (most: string) => ({
    status: 400,
    body: { errors: [{ path: 'amount', code: 'MISMATCH' }], error: most },
  })
  t.match(await correct({ payment_id: id, amount: '50.01' }), tooMuch('at most 50.00'))
  t.match(await correct({ payment_id: id, amount: '5.00' }, { key: 'part' }), { status: 201 })
  const before = await balancesOf(service, merchant)
  const as = await service.operator('OWNER')
  t.match(await resolve(id, { outcome: 'CREDITED' }, { as }), { status: 200 })
  t.same(await balancesOf(service, merchant), before, 'the bank may have kept back charges')
  t.match(await resolutionOf(id), { outcome: 'CREDITED', added_amount: '0.0000', corrected_before: '5.0000' })
  t.same([await tasks(), await differences()], [[], []])

  t.match(await correct({ payment_id: id, amount: '45.01' }), tooMuch('at most 45.00'))
  const [one, two] = await Promise.all([
    correct({ payment_id: id, amount: '45.00' }),
    correct({ payment_id: id, amount: '45.00' }),
  ])
  t.same([one.status, two.status].toSorted(), [201, 400], 'they take turns')
  t.match(await correct({ payment_id: id, amount: '0.01' }), {
    status: 400,
    body: { errors: [{ code: 'ALREADY_THERE' }] },
  })
  t.match(await correct({ payment_id: id, amount: '5.00' }, { key: 'part' }), { status: 201 }, 'a repeated request')
  const { GBP: { clearing: after } = { clearing: '' } } = await balancesOf(service, merchant)
  t.equal(Number(after) - Number(before['GBP']?.clearing), 45)
})

t.test('what a correction has added is not recorded as returned', async (t) => {
  const id = await settledLate()
  t.match(await correct({ payment_id: id }), { status: 201 })
  const before = await hashTables(owner)
  const rejected = { code: 'PAYMENT_NOT_RESOLVABLE', error: /50\.00 GBP/, next: /CREDITED/ }
  t.match(await resolve(id, { outcome: 'RETURNED' }), { status: 409, body: rejected })
  t.same(await hashTables(owner), before)
  t.equal((await tasks()).length, 1)
  const as = await service.operator('OWNER')
  t.match(await resolve(id, { outcome: 'CREDITED' }, { as }), { status: 200 })
  t.match(await resolutionOf(id), { added_amount: '0.0000', corrected_before: '50.0000' })
})

t.test('both at once add it once', async (t) => {
  const as = await service.operator('OWNER')
  for (const _ of [1, 2, 3]) {
    const id = await settledLate()
    const answers = await Promise.all([
      correct({ payment_id: id }),
      resolve(id, { outcome: 'CREDITED' }, { as }),
      correct({ payment_id: id }),
      resolve(id, { outcome: 'CREDITED' }, { as }),
    ])
    t.ok(
      answers.every(({ status }) => [200, 201, 400, 409].includes(status)),
      answers.map(({ status }) => status).join(),
    )
    t.equal((await correctionsOf(id)).length, 1)
    t.same([await tasks(), await differences()], [[], []])
  }
})

t.test('a correction names a failed payment of its merchant, and adds money of the bank', async (t) => {
  const id = await settledLate()
  const { id: authorised } = await authorisedPayment(service, merchant, { amount: '50.00' })
  const WRONG: [body: object, path: string][] = [
    [{ payment_id: id, amount: '-50.00' }, 'payment_id'],
    [{ payment_id: id, booked_against: 'FEES' }, 'payment_id'],
    [{ payment_id: id, currency: 'EUR' }, 'currency'],
    [{ payment_id: authorised }, 'payment_id'],
  ]
  for (const [body, path] of WRONG)
    t.match(await correct(body), { status: 400, body: { errors: [{ path }] } }, JSON.stringify(body))
  const unknown = { status: 404, body: { code: 'PAYMENT_NOT_FOUND' } }
  t.match(await correct({ payment_id: 'late' }), unknown)
  t.match(await correct({ payment_id: id }, { of: await service.merchant() }), unknown, "another merchant's")
  t.same(await correctionsOf(id), [])
})
