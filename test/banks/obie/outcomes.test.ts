import t from 'tap'
import type { Fault } from '../../../src/model-bank/faults.ts'
import { until, untilStatus } from '../../support/app.ts'
import { authoriseAtBank, endWorkOfBanks, newBankPayment, obieService, payAtBank, reseal } from '../../support/obie.ts'

const world = await obieService(t)
const { service, bank, merchant } = world

/** What both sides say of one payment: the bank's books and ours. */
async function moneyOf(id: string, endToEndId: string): Promise<{ status: string; atBank: string[] }> {
  const { payments } = await bank.books()
  const { body } = await service.call('GET', `/api/v1/payments/${id}`, { merchant })
  return {
    status: body.status,
    atBank: payments.filter((each) => each.endToEndId === endToEndId).map((each) => each.status),
  }
}

/** Ends the time that `late_settlement` gave a payment. */
async function settleAtBank(endToEndId: string): Promise<void> {
  const payment = (await bank.books()).payments.find((each) => each.endToEndId === endToEndId)
  await bank.control('POST', `/payments/${String(payment?.id)}/settle`)
}

async function failureOf(id: string): Promise<unknown> {
  return (await untilStatus(service, merchant, id, 'Failed')).failure
}

for (const [decision, source] of [
  ['cancel', 'PAYER'],
  ['reject', 'ASPSP_REJECTION'],
] as const)
  t.test(`${decision} at the bank: the bank is asked, and the source is ${source}`, async (t) => {
    const payment = await newBankPayment(world)
    const { next } = await payAtBank(world, payment.address, { decision })
    t.equal(next?.searchParams.get('error'), 'access_denied')
    const body = { state: payment.state, error: 'access_denied' }
    const done = await service.call('POST', `/api/v1/payments/${payment.id}/sca-complete`, { body })
    t.match(done, { status: 200, body: { status: 'Failed' } })
    t.match(await failureOf(payment.id), { code: 'ACCESS_DENIED', source })
    t.same((await moneyOf(payment.id, payment.endToEndId)).atBank, [])
  })

t.test('an error that only the browser claims fails nothing that the bank has authorised', async (t) => {
  const payment = await newBankPayment(world)
  const { next } = await payAtBank(world, payment.address)
  const path = `/api/v1/payments/${payment.id}/sca-complete`
  const claimed = await service.call('POST', path, { body: { state: payment.state, error: 'access_denied' } })
  t.match(claimed, { status: 200, body: { status: 'AwaitingAuthorisation' } })
  const { code } = Object.fromEntries(next?.searchParams ?? [])
  t.match(await service.call('POST', path, { body: { state: payment.state, code } }), {
    body: { status: 'Authorised' },
  })
  await untilStatus(service, merchant, payment.id, 'Settled')
})

t.test('five clicks at once use the code of the bank once', async (t) => {
  const payment = await newBankPayment(world)
  const { next } = await payAtBank(world, payment.address)
  const { code } = Object.fromEntries(next?.searchParams ?? [])
  const path = `/api/v1/payments/${payment.id}/sca-complete`
  const click = () => service.call('POST', path, { body: { state: payment.state, code } })
  const answers = await Promise.all(Array.from({ length: 5 }, click))
  for (const { status, body } of answers) t.ok(status === 200 || body.code === 'BANK_UNAVAILABLE', String(status))
  await untilStatus(service, merchant, payment.id, 'Settled')
  const { rows } = await service.owner.query(`select from obie.calls where state = $1 and step = 'code exchange'`, [
    payment.state,
  ])
  t.equal(rows.length, 1)
  t.match(await click(), { status: 200 })
})

t.test("a late settlement is waited for, and is the bank's word", async (t) => {
  await bank.setFault({ name: 'late_settlement', seconds: 3_600, times: 1 })
  const payment = await authoriseAtBank(world)
  await until(async () => (await moneyOf(payment.id, payment.endToEndId)).atBank.length === 1)
  t.same(await moneyOf(payment.id, payment.endToEndId), { status: 'Authorised', atBank: ['ACSP'] })
  await settleAtBank(payment.endToEndId)
  await untilStatus(service, merchant, payment.id, 'Settled')
  t.same((await moneyOf(payment.id, payment.endToEndId)).atBank, ['ACSC'])
})

t.test("a payment that is rejected after the bank took it fails with the bank's reason", async (t) => {
  await bank.setFault({ name: 'rejected_after_acceptance', seconds: 1, times: 1, reason_code: 'AC06' })
  const payment = await authoriseAtBank(world)
  t.match(await failureOf(payment.id), { code: 'ACCOUNT_BLOCKED', source: 'ASPSP_REJECTION' })
  t.same((await moneyOf(payment.id, payment.endToEndId)).atBank, ['RJCT'])
})

t.test('an account without the money fails before a payment is ordered', async (t) => {
  const payment = await authoriseAtBank(world, { account: '20000055556666' })
  t.match(await failureOf(payment.id), { code: 'INSUFFICIENT_FUNDS' })
  t.same((await moneyOf(payment.id, payment.endToEndId)).atBank, [])
})

const LOST: Partial<Fault>[] = [
  { name: 'timeout_after_acceptance', times: 1 },
  { name: 'server_error_after_acceptance', times: 2 },
  { name: 'half_a_body', times: 1 },
  { name: 'oversized_body', on: ['createPayment'], times: 1 },
  { name: 'wrong_signature', on: ['createPayment'], times: 1 },
  { name: 'missing_signature', on: ['createPayment'], times: 1 },
  { name: 'too_many_requests', on: ['createPayment'], seconds: 1, times: 1 },
  { name: 'server_error', on: ['createPayment'], times: 2 },
  { name: 'redirect_elsewhere', on: ['createPayment'], times: 1 },
  { name: 'unsigned_refusal', on: ['createPayment'], times: 2 },
]
for (const fault of LOST)
  t.test(`${fault.name} at the order: paid once, and settled by the bank's word`, async (t) => {
    await bank.setFault({ name: 'down', ...fault })
    const payment = await authoriseAtBank(world)
    await untilStatus(service, merchant, payment.id, 'Settled')
    await bank.clearFaults()
    t.same(await moneyOf(payment.id, payment.endToEndId), { status: 'Settled', atBank: ['ACSC'] })
  })

t.test('an order that the bank took without a word, and does not know again, is never called failed', async (t) => {
  // Until the order is another one: a repeat of this one would be answered at once.
  await bank.setFault({ name: 'half_a_body', on: ['createPayment'] })
  const payment = await authoriseAtBank(world)
  await until(async () => (await moneyOf(payment.id, payment.endToEndId)).atBank.length === 1)
  // Another space in the order makes it another one to the bank.
  const { sealer } = service.app
  const context = { table: 'obie.payments', column: 'request', rowId: payment.id, merchantId: '' }
  const order = async () => {
    const { rows } = await service.owner.query<{ request: string; times_asked: number }>(
      'select request, times_asked from obie.payments where payment_id = $1',
      [payment.id],
    )
    return rows[0] ?? { request: '', times_asked: 0 }
  }
  const { request } = await order()
  const changed = sealer.seal(`${sealer.open(request, context)} `, context)
  await service.owner.query('update obie.payments set request = $1 where payment_id = $2', [changed, payment.id])
  // The order may be on its way as it was: the second one from here on was read after the change.
  const { times_asked: before } = await order()
  await until(async () => (await order()).times_asked >= before + 2)
  const asked = async (): Promise<number> =>
    (await service.owner.query(`select from obie.calls where state = $1 and step = 'consent status'`, [payment.state]))
      .rows.length
  // The payer's return has asked for the consent too.
  const askedBefore = await asked()
  await bank.clearFaults()
  await until(async () => {
    await endWorkOfBanks(service)
    return (await asked()) > askedBefore
  })
  t.same(await moneyOf(payment.id, payment.endToEndId), { status: 'Authorised', atBank: ['ACSC'] })
  await service.owner.query('update obie.payments set request = $1 where payment_id = $2', [request, payment.id])
  await untilStatus(service, merchant, payment.id, 'Settled')
})

const refusalsOf = async (state: string): Promise<number> => {
  const { rows } = await service.owner.query(
    `select from obie.calls where state = $1 and step = 'payment' and http_status = 400`,
    [state],
  )
  return rows.length
}

t.test('a repeat that the bank refuses while it still works on the order fails nothing', async (t) => {
  await bank.setFault({ name: 'held_order', seconds: 600 })
  const { id, state, endToEndId } = await authoriseAtBank(world)
  await until(async () => (await refusalsOf(state)) >= 3)
  t.same(await moneyOf(id, endToEndId), { status: 'Authorised', atBank: [] })
  await bank.clearFaults()
  await untilStatus(service, merchant, id, 'Settled')
  t.same(await moneyOf(id, endToEndId), { status: 'Settled', atBank: ['ACSC'] })
})

t.test('an order that was lost, and that the bank refuses when it can be at work on it no more, fails', async (t) => {
  await bank.setFault({ name: 'server_error', on: ['createPayment'] })
  const { id, state, endToEndId } = await authoriseAtBank(world)
  const sent = async (): Promise<number> => {
    const { rows } = await service.owner.query<{ times: number }>(
      'select times_asked as times from obie.payments where payment_id = $1',
      [id],
    )
    return rows[0]?.times ?? 0
  }
  await until(async () => (await sent()) >= 1)
  const change = (text: string): string => text.replaceAll('Collections Ltd', 'Another Ltd')
  await reseal(service, 'payments', { column: 'request', id, change })
  await bank.clearFaults()
  await until(async () => (await refusalsOf(state)) >= 2)
  t.same(await moneyOf(id, endToEndId), { status: 'Authorised', atBank: [] }, 'not at once')
  await until(async () => {
    await endWorkOfBanks(service)
    return (await moneyOfOurs(id)) === 'Failed'
  })
  t.match(await failureOf(id), { code: 'BANK_ERROR' })
  t.same((await moneyOf(id, endToEndId)).atBank, [])
})

t.test('a bank that is down takes no payment; what was paid before waits for it', async (t) => {
  await bank.setFault({ name: 'late_settlement', seconds: 3_600, times: 1 })
  const paid = await authoriseAtBank(world)
  await until(async () => (await moneyOf(paid.id, paid.endToEndId)).atBank.length === 1)
  await bank.setFault({ name: 'down' })
  const refused = await newBankPayment(world).catch((error: unknown) => String(error))
  t.match(refused, /BANK_UNAVAILABLE/)
  t.equal(await moneyOfOurs(paid.id), 'Authorised')
  await bank.clearFaults()
  await settleAtBank(paid.endToEndId)
  await untilStatus(service, merchant, paid.id, 'Settled')
})

async function moneyOfOurs(id: string): Promise<string> {
  return (await service.call('GET', `/api/v1/payments/${id}`, { merchant })).body.status
}

t.test(
  'an operator sees in explain what the bank was asked, under the ids that it knows; the merchant does not',
  async (t) => {
    await bank.setFault({ name: 'wrong_signature', on: ['createPayment'], times: 1 })
    const { id } = await authoriseAtBank(world)
    await untilStatus(service, merchant, id, 'Settled')
    const path = `/api/v1/admin/explain/${id}`
    const { body, status, text } = await service.call('GET', path, { headers: await service.operator('SUPPORT') })
    t.equal(status, 200, text)
    const told: string[] = body.timeline
      .filter(({ kind }: { kind: string }) => kind === 'bank')
      .map((row: { text: string }) => row.text)
    const steps = told.map((line) => line.replace(/ \(interaction [0-9a-f-]{36}\)$/, ''))
    t.match(steps, ['model answered 201 to: consent', 'model answered 200 to: code exchange'])
    t.ok(steps.some((line) => line.startsWith("model, payment: its signature is not the bank's")))
    t.equal(steps.at(-1), 'model answered 201 to: payment')
    t.notMatch(text, /eyJhbGci|20000011112222/)
    const own = await service.call('GET', `/api/v1/portal/explain/${id}`, { merchant })
    t.equal(own.status, 200)
    t.notMatch(own.text, 'interaction')
  },
)

t.test('every payment at the bank is one of ours, and none was made twice', async (t) => {
  const { payments } = await bank.books()
  t.equal(new Set(payments.map(({ endToEndId }) => endToEndId)).size, payments.length)
  const { rows } = await service.owner.query<{ end_to_end_id: string }>(
    `select end_to_end_id from payment_intents where status in ('Settled', 'Authorised')`,
  )
  t.same(
    payments
      .filter(({ status }) => status === 'ACSC')
      .map(({ endToEndId }) => endToEndId)
      .toSorted(),
    rows.map((row) => row.end_to_end_id).toSorted(),
  )
})

t.test('no secret of the bank, of the operator or of the payer lies in the database in clear', async (t) => {
  const { rows } = await service.owner.query<{ text: string }>(`
    select string_agg(t::text, ' ') as text from (
      select c::text as t from obie.consents c union all select v::text from obie.visits v
      union all select p::text from obie.payments p union all select c::text from obie.calls c
    ) every`)
  const text = rows[0]?.text ?? ''
  t.ok(text.length > 1_000)
  for (const secret of ['eyJhbGci', '20000011112222', 'Collections Ltd', 'Initiation', 'BEGIN PRIVATE'])
    t.notOk(text.includes(secret), secret)
})
